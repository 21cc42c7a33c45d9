package import Catalog

/// The groups of a shelf's products, of which views with collapsed groups show one row each.
package struct GroupColumn: Sendable {
    /// The number of each row's group in `keys`, or `ShelfTable.none`.
    let numbers: [UInt32]
    /// The keys of the groups. Up to half of them may have no rows.
    private let keys: ByteNumbers
    /// The number of rows of each group.
    let counts: [UInt32]
    /// The first row of each group; `ShelfTable.none` for a group without rows.
    private let firstRows: [UInt32]
    /// Counts the memory while a cache or a view has the column.
    package var counted: CountedMemory?

    fileprivate init(_ numbers: [UInt32], _ keys: ByteNumbers) {
        var counts = [UInt32](repeating: 0, count: keys.count)
        var firstRows = [UInt32](repeating: ShelfTable.none, count: keys.count)
        for (row, number) in numbers.enumerated() where number != ShelfTable.none {
            if counts[Int(number)] == 0 { firstRows[Int(number)] = UInt32(row) }
            counts[Int(number)] += 1
        }
        (self.numbers, self.keys, self.counts, self.firstRows) = (numbers, keys, counts, firstRows)
    }

    /// The size in memory, in bytes.
    package var size: Int {
        4 * (numbers.capacity + counts.capacity + firstRows.capacity) + keys.size + MemoryLayout<GroupColumn>.size
            + 6 * ShelfTable.arrayOverhead
    }

    /// Returns the number of products that the group of a row has; 1 for a product without a group.
    func total(_ row: Int) -> Int {
        numbers[row] == ShelfTable.none ? 1 : Int(counts[Int(numbers[row])])
    }

    /// Returns the place of a row's card among the ids of a table: the row of a product without a group, and otherwise a place that all rows of
    /// the group have in common. It depends on nothing but the table.
    package func place(_ row: Int) -> UInt32 {
        let number = numbers[row]
        return number == ShelfTable.none ? UInt32(row) : UInt32(numbers.count) + firstRows[Int(number)]
    }

    /// The number of places.
    package var placeCount: Int { 2 * numbers.count }

    /// Returns the key of the group of a place; nil for the place of a product without a group.
    package func key(at place: UInt32) -> String? {
        guard Int(place) >= numbers.count else { return nil }
        return keys.text(Int(numbers[Int(place) - numbers.count]))
    }

    /// Returns the rows of groups; groups without rows are left out.
    package func rows(of keys: Set<String>) -> [String: [Int]] {
        var wanted: [UInt32: String] = [:]
        for key in keys {
            if let number = self.keys.known(Array(key.utf8)) { wanted[number] = key }
        }
        var rows: [String: [Int]] = [:]
        guard !wanted.isEmpty else { return rows }
        for (row, number) in numbers.enumerated() where number != ShelfTable.none {
            if let key = wanted[number] { rows[key, default: []].append(row) }
        }
        return rows
    }

    /// Returns the column after some rows got other keys.
    ///
    /// - Parameter number: returns the number of a row's group, whose key it adds to the keys if it is new.
    /// - Returns: nil if most keys have no rows by now.
    fileprivate func following(
        _ changed: [UInt32],
        _ number: (inout ByteNumbers, Int) -> UInt32
    ) -> GroupColumn? {
        var (numbers, keys) = (numbers, keys)
        for row in changed { numbers[Int(row)] = number(&keys, Int(row)) }
        let column = GroupColumn(numbers, keys)
        let used = column.counts.count { $0 > 0 }
        return 2 * used + Self.unusedKeys >= keys.count ? column : nil
    }

    /// The number of keys that may have no rows in a small column.
    private static let unusedKeys = 64
}

extension ShelfTable {
    /// Reads the groups of the products.
    ///
    /// - Complexity: O(*n*) for *n* products.
    package func groupColumn() -> GroupColumn {
        var keys = ByteNumbers()
        return GroupColumn((0..<count).map { groupNumber(&keys, $0) }, keys)
    }

    /// Returns the groups from those of an earlier table, which has the same products in the same rows, and other values in some.
    ///
    /// - Parameter changed: the rows with other values. Only these are read.
    /// - Complexity: O(*n*) for *n* rows.
    package func groupColumn(_ earlier: GroupColumn, changed: [UInt32]) -> GroupColumn {
        earlier.following(changed) { groupNumber(&$0, $1) } ?? groupColumn()
    }

    private func groupNumber(_ keys: inout ByteNumbers, _ row: Int) -> UInt32 {
        details.withBytes(row) { bytes in
            ProductDetails.text(.group, in: bytes).map { keys.number(of: $0).number } ?? Self.none
        }
    }

    /// Returns the table with the groups of its products, which views and facets with collapsed groups need.
    package func with(_ groups: GroupColumn?) -> ShelfTable {
        guard let groups else { return self }
        var table = self
        table.groups = groups
        return table
    }
}

// MARK: - Collapsed views

/// The groups of a view that shows one row for each.
package struct ViewGroups: Sendable {
    /// The number of matching products of each row's group, in the order of the view.
    let matching: [UInt32]
    /// The rows of the first members of each group that has several, in the natural direction of the sort: the representative is the first one.
    let members: [UInt32]
    /// The end of each row's group in `members`, in the order of the view.
    private let ends: [UInt32]
    package let column: GroupColumn

    /// - Parameters:
    ///   - rows: the representatives, in the order of the view.
    ///   - counts: the number of matching products of each group of the column.
    ///   - natural: the view with all rows in the natural direction.
    fileprivate init(_ rows: [UInt32], _ counts: [UInt32], _ natural: TableView, _ column: GroupColumn) {
        self.column = column
        let numbers = column.numbers
        matching = rows.map { row in
            let number = numbers[Int(row)]
            return number == ShelfTable.none ? 1 : counts[Int(number)]
        }
        var ends: [UInt32] = []
        ends.reserveCapacity(rows.count)
        // The next index of each group's members, and the end.
        var (next, limits) = (counts, counts)
        var end: UInt32 = 0
        for (row, count) in zip(rows, matching) {
            if count > 1 {
                let number = Int(numbers[Int(row)])
                next[number] = end
                end += min(count, UInt32(GroupCard.memberLimit))
                limits[number] = end
            }
            ends.append(end)
        }
        var members = [UInt32](repeating: 0, count: Int(end))
        if end > 0 {
            for row in natural.rows {
                let number = numbers[Int(row)]
                guard number != ShelfTable.none, counts[Int(number)] > 1, next[Int(number)] < limits[Int(number)]
                else { continue }
                members[Int(next[Int(number)])] = row
                next[Int(number)] += 1
            }
        }
        (self.ends, self.members) = (ends, members)
    }

    /// The size of the arrays in memory, in bytes, without the column, which counts once.
    var size: Int {
        3 * ShelfTable.arrayOverhead + 4 * (matching.capacity + members.capacity + ends.capacity)
    }

    /// Returns the rows of the first members of the group at an index; empty if it has only one.
    fileprivate func members(at index: Int) -> ArraySlice<UInt32> {
        members[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])]
    }
}

extension ShelfTable {
    /// Returns a view with one row for each group: its representative, which is the first row of the group in a natural direction.
    ///
    /// A product without a group is a group of its own.
    ///
    /// - Parameters:
    ///   - all: the view with all rows.
    ///   - natural: the view with the same rows in the natural direction of the sort; `all` itself if that is its direction.
    /// - Precondition: the table has its groups.
    /// - Complexity: O(*n*).
    package func collapsed(_ all: TableView, _ natural: TableView) -> TableView {
        guard let groups else { preconditionFailure("the groups were not read") }
        let numbers = groups.numbers
        var representatives = [UInt32](repeating: Self.none, count: groups.counts.count)
        var counts = [UInt32](repeating: 0, count: groups.counts.count)
        for row in natural.rows {
            let number = numbers[Int(row)]
            guard number != Self.none else { continue }
            if counts[Int(number)] == 0 { representatives[Int(number)] = row }
            counts[Int(number)] += 1
        }
        let rows = all.rows.filter { row in
            let number = numbers[Int(row)]
            return number == Self.none || representatives[Int(number)] == row
        }
        return TableView(rows, of: all, ViewGroups(rows, counts, natural, groups))
    }
}

extension TableView {
    /// Returns the numbers of products that the card at an index represents; nil unless groups are collapsed.
    package func card(at index: Int) -> GroupCard? {
        groups.map { GroupCard(matching: Int($0.matching[index]), total: $0.column.total(Int(rows[index]))) }
    }

    /// Returns the rows of the first members of the card at an index, in the natural direction of the sort. The representative is the first
    /// one, and there are at most `GroupCard.memberLimit`.
    package func members(at index: Int) -> [Int] {
        let members = groups?.members(at: index) ?? []
        return members.isEmpty ? [Int(rows[index])] : members.map(Int.init)
    }
}
