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
    /// Whether each group has only one row.
    package var collapsesGroups: Bool

    package init(
        sort: Sort,
        filter: Filter = .none,
        dimension: Dimension,
        sortsSoldOutLast: Bool,
        currency: Currency,
        collapsesGroups: Bool = false
    ) {
        self.sort = sort
        self.filter = filter
        self.dimension = dimension
        self.sortsSoldOutLast = sortsSoldOutLast
        self.currency = currency
        self.collapsesGroups = collapsesGroups
    }

    /// The request for all rows of the groups.
    package var expanded: ViewRequest {
        var request = self
        request.collapsesGroups = false
        return request
    }

    /// The request for the same rows in the natural direction of the first key, in which the first row of a group represents it.
    package var natural: ViewRequest {
        var request = self
        request.sort = sort.natural
        return request
    }
}

/// One order of a shelf's products, or of those that match a filter and a search: row numbers of its table.
package struct TableView: Sendable, Equatable {
    package let request: ViewRequest
    package let rows: [UInt32]
    /// The products that a search finds; nil without a search.
    package let matches: SearchMatches?
    /// The groups, if each has only one row.
    package let groups: ViewGroups?
    /// The columns of the attributes in the sort, by which places are found.
    let columns: [ResolvedAttribute: AttributeColumn]

    /// - Parameter table: the table of the rows, with the columns of attributes that the request uses.
    init(
        request: ViewRequest,
        rows: [UInt32],
        matches: SearchMatches? = nil,
        of table: ShelfTable
    ) {
        (self.request, self.rows, self.matches, groups) = (request, rows, matches, nil)
        let attributes = request.sort.attributes
        let needed = attributes.isEmpty ? [] : Set(attributes + attributes.flatMap(\.operands))
        columns = needed.isEmpty ? [:] : table.attributes.filter { needed.contains($0.key) }
    }

    /// Some rows of a view, each of which represents a group.
    init(_ rows: [UInt32], of all: TableView, _ groups: ViewGroups) {
        var request = all.request
        request.collapsesGroups = true
        (self.request, self.rows, self.groups) = (request, rows, groups)
        (matches, columns) = (all.matches, all.columns)
    }

    package static func == (a: TableView, b: TableView) -> Bool {
        a.request == b.request && a.rows == b.rows && a.matches == b.matches
            && a.groups?.matching == b.groups?.matching && a.groups?.members == b.groups?.members
    }

    /// The size in memory, in bytes, including matches that the view shares with others, without columns, which count once.
    package var size: Int {
        return MemoryLayout<TableView>.size + ShelfTable.arrayOverhead + 4 * rows.capacity + (groups?.size ?? 0)
            + (matches?.sizeOfArrays ?? 0)
    }

    /// The criteria of the order between availability and the tie-breakers.
    var criteria: [OrderCriterion] { request.criteria(matches) }
}

extension ShelfTable {
    /// Sorts and filters the products.
    ///
    /// - Parameter matches: the products that a search finds; nil without a search.
    /// - Precondition: the table is not that of a union, if the sort has the manual order. It has the columns of the request's attributes, and its
    ///   groups if the request collapses them. Matches are those of an index of this table, and given if the sort has the relevance.
    /// - Complexity: O(*n*) for each sort key and each key of the filter. A manual order, and unit prices, take O(*n* log *n*) if many of their keys
    ///   have equal beginnings.
    package func view(_ request: ViewRequest, _ matches: SearchMatches? = nil) -> TableView {
        if request.collapsesGroups {
            let all = view(request.expanded, matches)
            let natural = request.expanded.natural
            return collapsed(all, natural == all.request ? all : view(natural, matches))
        }
        let order = order(request, matches)
        guard !request.filter.isEmpty else {
            return TableView(request: request, rows: order, matches: matches, of: self)
        }
        let isKept = rows(matching: request.filter, in: request.currency)
        var rows: [UInt32] = []
        rows.reserveCapacity(order.count { isKept[Int($0)] })
        for row in order where isKept[Int(row)] { rows.append(row) }
        return TableView(request: request, rows: rows, matches: matches, of: self)
    }

    /// Returns all rows, or those that a search finds, in the order of a sort.
    private func order(_ request: ViewRequest, _ matches: SearchMatches?) -> [UInt32] {
        let sort = request.sort
        // The base order decides last, so it comes first: each key is a stable sort of the order before it.
        var rows = matches?.rows ?? (0..<UInt32(count)).map { $0 }
        if sort.tieBreakerDirection == .descending { rows.reverse() }
        // A name that decides last has the base order already.
        let isNamed =
            sort.comparedTerms.last.map { $0.key == .name && $0.direction == sort.tieBreakerDirection } ?? false
        for criterion in request.criteria(matches).dropLast(isNamed ? 1 : 0).reversed() {
            order(&rows, by: criterion, request.dimension)
        }
        if request.sortsSoldOutLast, sort.respectsAvailability {
            rows = rows.filter { inStock[Int($0)] } + rows.filter { !inStock[Int($0)] }
        }
        return rows
    }
}

extension ViewRequest {
    /// Returns the criteria of the order between availability and the tie-breakers, from the first to the last.
    fileprivate func criteria(_ matches: SearchMatches?) -> [OrderCriterion] {
        sort.comparedTerms.map { term in
            guard term.key.readsMatches else { return .key(term) }
            guard let matches else { preconditionFailure("only the matches of a search have a relevance") }
            return .matches(matches, term.key)
        }
    }
}
