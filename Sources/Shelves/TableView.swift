package import Catalog

/// A sort and a filter, and the settings of the shelf that both depend on.
package struct ViewRequest: Sendable, Hashable {
    package var sort: Sort
    package var filter: Filter
    /// The dimension whose unit prices come first.
    package var dimension: Dimension
    package var sortsSoldOutLast: Bool
    /// The currency of the filter's amounts.
    package var currency: Currency

    package init(sort: Sort, filter: Filter = .none, dimension: Dimension, sortsSoldOutLast: Bool, currency: Currency) {
        self.sort = sort
        self.filter = filter
        self.dimension = dimension
        self.sortsSoldOutLast = sortsSoldOutLast
        self.currency = currency
    }
}

/// One order of a shelf's products, or of those that match a filter: row numbers of its table.
package struct TableView: Sendable, Equatable {
    package let request: ViewRequest
    package let rows: [UInt32]

    /// The size in memory, in bytes.
    package var size: Int { MemoryLayout<TableView>.size + ShelfTable.arrayOverhead + 4 * rows.capacity }

    /// Returns the index of a row in the view; nil if the filter excludes it.
    ///
    /// - Complexity: O(*n*).
    package func index(of row: Int) -> Int? { rows.firstIndex(of: UInt32(row)) }
}

extension ShelfTable {
    /// Sorts and filters the products.
    ///
    /// - Precondition: the table is not that of a union, if the sort has the manual order.
    /// - Complexity: O(*n*) for each sort key and each key of the filter. A manual order, and unit prices, take O(*n* log *n*) if many of their keys
    ///   have equal beginnings.
    package func view(_ request: ViewRequest) -> TableView {
        let order = order(request)
        guard !request.filter.isEmpty else { return TableView(request: request, rows: order) }
        let matches = rows(matching: request.filter, in: request.currency)
        var rows: [UInt32] = []
        rows.reserveCapacity(matches.count { $0 })
        for row in order where matches[Int(row)] { rows.append(row) }
        return TableView(request: request, rows: rows)
    }

    /// Returns all rows in the order of a sort.
    private func order(_ request: ViewRequest) -> [UInt32] {
        let sort = request.sort
        // The base order decides last, so it comes first: each key is a stable sort of the order before it.
        var rows = (0..<UInt32(count)).map { $0 }
        if sort.tieBreakerDirection == .descending { rows.reverse() }
        // A name that decides last has the base order already.
        let isNamed = sort.terms.last.map { $0.key == .name && $0.direction == sort.tieBreakerDirection } ?? false
        for term in sort.terms.dropLast(isNamed ? 1 : 0).reversed() { order(&rows, by: term, request.dimension) }
        if request.sortsSoldOutLast, sort.respectsAvailability {
            rows = rows.filter { inStock[Int($0)] } + rows.filter { !inStock[Int($0)] }
        }
        return rows
    }

    /// Sorts rows stably by one key.
    private func order(_ rows: inout [UInt32], by term: Sort.Term, _ dimension: Dimension) {
        let isDescending = term.direction == .descending
        /// Returns the keys of values; missing values come last in both directions.
        func keys(_ value: (Int) -> UInt64?) -> [UInt64] {
            (0..<count).map { row in value(row).map { isDescending ? Self.lastValue - $0 : $0 } ?? .max }
        }
        switch term.key {
        case .price: RowOrder.sort(&rows, by: keys { row in price(row).map { UInt64($0) } })
        case .unitPrice:
            let keys = keys { row in unitPrice(row)?.approximateValue.bitPattern }
            RowOrder.sort(&rows, by: keys, within: UnitPrice.approximationError) { a, b in
                isDescending ? hasLowerUnitPrice(b, than: a) : hasLowerUnitPrice(a, than: b)
            }
            let groups = dimension.groupOrder
            let ranks = sizeValues.dimensions.map { UInt64(groups.firstIndex(of: $0)!) }
            RowOrder.sort(
                &rows,
                by: (0..<count).map { hasUnitPrice($0) ? ranks[Int(sizes[$0])] : UInt64(groups.count) }
            )
        case .popularity: RowOrder.sort(&rows, by: bits(popularities.lazy.map(\.orderedBits), isDescending))
        case .brand: RowOrder.sort(&rows, by: keys { row in brands[row] == Self.none ? nil : UInt64(brands[row]) })
        case .name:
            let ranks = nameRanks
            RowOrder.sort(&rows, by: keys { row in ranks[row] })
        case .created: RowOrder.sort(&rows, by: bits(created.lazy.map(\.orderedBits), isDescending))
        case .modified: RowOrder.sort(&rows, by: bits(modified.lazy.map(\.orderedBits), isDescending))
        case .tags: RowOrder.sort(&rows, by: keys { row in UInt64(tagSetValues[Int(tagSets[row])].count) })
        case .position:
            precondition(positions.count == count, "a union of shelves has no manual order")
            RowOrder.sort(&rows, by: positions)
        }
    }

    /// Not below any number of a value that can be missing.
    static let lastValue = UInt64.max - 1

    private func bits(_ values: some Sequence<UInt64>, _ isDescending: Bool) -> [UInt64] {
        values.map { isDescending ? ~$0 : $0 }
    }

    /// The rank of each row's name; rows with equal names have equal ranks.
    private var nameRanks: [UInt64] {
        var ranks: [UInt64] = []
        ranks.reserveCapacity(count)
        var rank: UInt64 = 0
        for row in 0..<count {
            if row > 0, !haveSameName(row - 1, row) { rank += 1 }
            ranks.append(rank)
        }
        return ranks
    }

    /// Compares the exact unit prices of two rows; a row without one is not lower.
    private func hasLowerUnitPrice(_ a: Int, than b: Int) -> Bool {
        guard let x = unitPrice(a), let y = unitPrice(b) else { return false }
        return x.isLess(than: y)
    }
}

extension Int64 {
    /// A number that orders like this one.
    fileprivate var orderedBits: UInt64 { UInt64(bitPattern: self) ^ (1 << 63) }
}

extension Double {
    /// A number that orders like this one; both zeros are equal.
    fileprivate var orderedBits: UInt64 {
        let bits = (self == 0 ? 0 : self).bitPattern
        return bits >> 63 == 1 ? ~bits : bits | (1 << 63)
    }
}
