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
}
