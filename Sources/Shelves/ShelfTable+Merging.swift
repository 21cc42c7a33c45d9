package import Catalog

extension ShelfTable {
    /// Adjacent rows of one of several tables.
    private struct Segment {
        let table: Int
        var rows: Range<Int>
    }

    /// Returns the table after some products changed.
    ///
    /// - Parameter changes: the values of each changed product; nil for a product that is no longer on the shelf.
    /// - Precondition: the table is that of a shelf, not of a union.
    /// - Complexity: O(*n* + *m* log *m*) for *n* rows and *m* changes. Columns without a change are shared.
    package func applying(_ changes: [SKU: TableRow?]) -> ShelfTable { changed(by: changes).table }

    /// A table after some products changed.
    package struct Changed: Sendable {
        package let table: ShelfTable
        /// The rows with other values, if all products kept their rows; otherwise nil.
        package let rows: [UInt32]?
    }

    /// The same, and which rows have other values.
    package func changed(by changes: [SKU: TableRow?]) -> Changed {
        precondition(positions.count == count, "a union of shelves is merged again")
        var isChanged = [Bool](repeating: false, count: count)
        var old: [SKU: Int] = [:]
        for (text, row) in skus.rows(of: changes.keys.map(\.text)) {
            old[SKU(stored: text)] = row
            isChanged[row] = true
        }
        if let table = replacingValues(changes, old) {
            return Changed(table: table, rows: old.values.map { UInt32($0) })
        }
        return Changed(table: merging(isChanged, ShelfTable(changes.values.compactMap { $0 })), rows: nil)
    }

    /// Replaces values in place; nil if a row comes, goes or moves, or has a brand, a tag or a size that no row had.
    private func replacingValues(_ changes: [SKU: TableRow?], _ old: [SKU: Int]) -> ShelfTable? {
        guard old.count == changes.count else { return nil }
        var table = self
        (table.attributes, table.groups) = ([:], nil)
        var (newDetails, newURLs): ([Int: [UInt8]], [Int: [UInt8]]) = ([:], [:])
        var tagSetNumbers: [[UInt32]: UInt32]?
        var sizeNumbers: [BaseQuantity: UInt32]?
        for (sku, change) in changes {
            guard let change, let row = old[sku], compareName(row, change.name) == 0,
                positions.compare(row, change.position) == 0
            else { return nil }
            var brand = Self.none
            if let text = change.brand {
                guard let number = brandTexts.number(of: text) else { return nil }
                brand = number
            }
            var size = Self.none
            if let quantity = change.size {
                if sizeNumbers == nil { sizeNumbers = Self.numbers(Array(sizeValues)) }
                guard let number = sizeNumbers?[quantity] else { return nil }
                size = number
            }
            var tags: [UInt32] = []
            for text in change.tags {
                guard let number = tagTexts.number(of: text) else { return nil }
                tags.append(number)
            }
            if !tags.elementsEqual(tagSetValues[Int(tagSets[row])]) {
                if tagSetNumbers == nil { tagSetNumbers = Self.numbers(tagSetValues.map(Array.init)) }
                guard let number = tagSetNumbers?[tags] else { return nil }
                table.tagSets[row] = number
            }
            // An assignment copies the column, so equal values are not assigned.
            if !details.isEqual(row, change.details.bytes) { newDetails[row] = change.details.bytes }
            let url = Array((change.imageURL ?? "").utf8)
            if imageURLs.bytes(row) != url { newURLs[row] = url }
            if table.brands[row] != brand { table.brands[row] = brand }
            if table.sizes[row] != size { table.sizes[row] = size }
            if table.price(row) != change.priceMinor { table.prices[row] = change.priceMinor ?? Self.noPrice }
            if table.popularities[row] != change.popularity.log2 { table.popularities[row] = change.popularity.log2 }
            if table.inStock[row] != change.inStock { table.inStock[row] = change.inStock }
            if table.created[row] != change.createdAt.microseconds {
                table.created[row] = change.createdAt.microseconds
            }
            if table.modified[row] != change.modifiedAt.microseconds {
                table.modified[row] = change.modifiedAt.microseconds
            }
        }
        if !newDetails.isEmpty { table.details = details.replacing(newDetails) }
        if !newURLs.isEmpty { table.imageURLs = imageURLs.replacing(newURLs) }
        return table
    }

    private static func numbers<Value: Hashable>(_ values: [Value]) -> [Value: UInt32] {
        Dictionary(values.enumerated().map { ($1, UInt32($0)) }) { first, _ in first }
    }

    /// Merges the rows that did not change with those of another table.
    private func merging(_ isChanged: [Bool], _ other: ShelfTable) -> ShelfTable {
        var segments: [Segment] = []
        var start = 0
        /// Appends the rows up to a row that did not change.
        func appendRows(upTo end: Int) {
            for row in start..<end where isChanged[row] {
                segments.append(Segment(table: 0, rows: start..<row))
                start = row + 1
            }
            segments.append(Segment(table: 0, rows: start..<end))
            start = end
        }
        for row in 0..<other.count {
            appendRows(upTo: firstRow(after: other, row, from: start))
            segments.append(Segment(table: 1, rows: row..<(row + 1)))
        }
        appendRows(upTo: count)
        var table = ShelfTable([self, other], segments, hasPositions: true)
        table.details = table.details.packedAgain
        return table
    }

    /// Returns the first row, from a row on, that does not come before a row of another table.
    private func firstRow(after other: ShelfTable, _ otherRow: Int, from start: Int) -> Int {
        var (low, high) = (start, count)
        while low < high {
            let middle = (low + high) / 2
            if compare(middle, other, otherRow) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Merges the products of several shelves of a store; each product occurs once. The result has no manual order.
    ///
    /// A product that several tables have has the score of the first one: a re-sort scores the products of one shelf after another. All its
    /// other values are equal in them.
    ///
    /// - Complexity: O(*n* log *k*) for *n* rows of *k* tables.
    package static func union(_ tables: [ShelfTable]) -> ShelfTable {
        var all = tables.isEmpty ? [ShelfTable()] : tables
        while all.count > 1 {
            all = stride(from: 0, to: all.count, by: 2).map { start in
                start + 1 < all.count ? union(all[start], all[start + 1]) : all[start]
            }
        }
        guard tables.count != 1 else { return all[0].withoutPositions() }
        // Details are packed once: the rows of two small shelves have less in common than those of all.
        all[0].details = all[0].details.packedAsUnion
        return all[0]
    }

    private func withoutPositions() -> ShelfTable {
        var table = self
        table.positions = TextColumn()
        return table
    }

    private static func union(_ a: ShelfTable, _ b: ShelfTable) -> ShelfTable {
        var segments: [Segment] = []
        func append(_ table: Int, _ row: Int) {
            if let last = segments.last, last.table == table, last.rows.upperBound == row {
                segments[segments.count - 1].rows = last.rows.lowerBound..<(row + 1)
            } else {
                segments.append(Segment(table: table, rows: row..<(row + 1)))
            }
        }
        var (i, j) = (0, 0)
        while i < a.count || j < b.count {
            let order = i == a.count ? 1 : j == b.count ? -1 : a.compare(i, b, j)
            append(order <= 0 ? 0 : 1, order <= 0 ? i : j)
            if order <= 0 { i += 1 }
            if order >= 0 { j += 1 }
        }
        return ShelfTable([a, b], segments, hasPositions: false)
    }

    /// Creates a table from rows of others, in their final order. Distinct values that no row has are left out. Details are not packed.
    private init(_ tables: [ShelfTable], _ segments: [Segment], hasPositions: Bool) {
        self.init()
        /// Returns a column of all rows.
        func gathered<Value>(_ column: KeyPath<ShelfTable, [Value]>) -> [Value] {
            let columns = tables.map { $0[keyPath: column] }
            var values: [Value] = []
            values.reserveCapacity(segments.reduce(0) { $0 + $1.rows.count })
            for segment in segments { values.append(contentsOf: columns[segment.table][segment.rows]) }
            return values
        }
        func gathered(_ column: KeyPath<ShelfTable, TextColumn>) -> TextColumn {
            let columns = tables.map { $0[keyPath: column] }
            var texts = TextColumn()
            texts.reserve(
                segments.reduce(0) { $0 + $1.rows.count },
                bytes: segments.reduce(0) { $0 + columns[$1.table].byteCount($1.rows) }
            )
            for segment in segments { texts.append(segment.rows, of: columns[segment.table]) }
            return texts
        }
        /// Returns a column of numbers, translated from those of the tables.
        func gathered(_ column: KeyPath<ShelfTable, [UInt32]>, _ numbers: [[UInt32]]) -> [UInt32] {
            let columns = tables.map { $0[keyPath: column] }
            var values: [UInt32] = []
            values.reserveCapacity(segments.reduce(0) { $0 + $1.rows.count })
            for segment in segments {
                let own = numbers[segment.table]
                values.append(
                    contentsOf: columns[segment.table][segment.rows].lazy.map { $0 == Self.none ? $0 : own[Int($0)] }
                )
            }
            return values
        }
        /// Returns for each table which of its distinct values occur in the rows.
        func used(_ column: KeyPath<ShelfTable, [UInt32]>, _ valueCount: (ShelfTable) -> Int) -> [[Bool]] {
            let columns = tables.map { $0[keyPath: column] }
            var used = tables.map { [Bool](repeating: false, count: valueCount($0)) }
            for segment in segments {
                for number in columns[segment.table][segment.rows] where number != Self.none {
                    used[segment.table][Int(number)] = true
                }
            }
            return used
        }

        skus = gathered(\.skus)
        names = gathered(\.names)
        nameKeys = gathered(\.nameKeys)
        details = PackedColumn(tables.map(\.details), segments.lazy.map { ($0.table, $0.rows) })
        imageURLs = PrefixedColumn(tables.map(\.imageURLs), segments.lazy.map { ($0.table, $0.rows) })
        if hasPositions { positions = gathered(\.positions) }
        prices = gathered(\.prices)
        popularities = gathered(\.popularities)
        inStock = gathered(\.inStock)
        created = gathered(\.created)
        modified = gathered(\.modified)

        let numbers: (brands: [[UInt32]], tags: [[UInt32]])
        (brandTexts, numbers.brands) = CollatedTexts.merged(
            Array(zip(tables.map(\.brandTexts), used(\.brands) { $0.brandTexts.count }))
        )
        brands = gathered(\.brands, numbers.brands)
        var quantities: [BaseQuantity] = []
        sizes = gathered(
            \.sizes,
            Self.merge(tables.map { Array($0.sizeValues) }, used(\.sizes) { $0.sizeValues.count }, into: &quantities)
        )
        sizeValues = Quantities(quantities)

        let usedSets = used(\.tagSets) { $0.tagSetValues.count }
        let usedTags = zip(tables, usedSets).map { table, isUsed in
            var used = [Bool](repeating: false, count: table.tagTexts.count)
            for (set, isUsed) in zip(table.tagSetValues, isUsed) where isUsed {
                for tag in set { used[Int(tag)] = true }
            }
            return used
        }
        (tagTexts, numbers.tags) = CollatedTexts.merged(Array(zip(tables.map(\.tagTexts), usedTags)))
        let sets = zip(tables, numbers.tags).map { table, numbers in
            table.tagSetValues.map { set in set.map { numbers[Int($0)] } }
        }
        var lists: [[UInt32]] = []
        tagSets = gathered(\.tagSets, Self.merge(sets, usedSets, into: &lists))
        tagSetValues = NumberLists(lists)
    }

    /// Collects the used values of several tables without duplicates.
    ///
    /// - Returns: the new number of each value of each table; that of an unused value has no meaning.
    private static func merge<Value: Hashable>(
        _ all: [[Value]],
        _ used: [[Bool]],
        into values: inout [Value]
    ) -> [[UInt32]] {
        var numbers: [Value: UInt32] = [:]
        return zip(all, used).map { own, used in
            zip(own, used).map { value, isUsed in
                guard isUsed else { return 0 }
                return number(of: value, &numbers, &values)
            }
        }
    }
}
