/// A request for a page of the products of a shelf, or of all shelves of a store.
package struct PageRequest: Sendable, Hashable {
    package var store: CatalogKey
    /// nil for all shelves of the store, whose products are shown each once.
    package var shelf: CatalogKey?
    /// Whether the page shows the products of the shelf and of all shelves below it, each once; nil for what the shelf says.
    package var includesDescendants: Bool?
    /// The requested sort; nil for the caller's, the shelf's, the store's or the system's, or with a search for the relevance.
    package var sort: Sort?
    /// The requested filter; nil for the one remembered with the caller's sort, if that sort applies.
    package var filter: Filter?
    /// The requested search; nil for all products.
    package var search: SearchText?
    /// Whether each group of products has one card; nil for what the caller's remembered sort or the shelf says. The remembered
    /// choice is ignored if the request has a search or a sort. A cursor keeps the choice of its first page.
    package var collapsesGroups: Bool?
    /// Whether cards of groups have their members.
    package var wantsMembers = false
    /// Whether products have the parts of their texts that match the search.
    package var wantsMatches = true
    /// The facets to count.
    package var facets: Set<Facet>
    /// Whether to count the products that match the filter and the search, or their groups if these are collapsed.
    package var wantsTotal: Bool
    /// The user whose remembered sort applies if none is requested.
    package var user: UserID?
    package var limit: Int
    package var after: Cursor?

    /// The allowed numbers of products per page.
    package static let limits = 1...100
    package static let limitRule = "between \(limits.lowerBound) and \(limits.upperBound)"
    package static let defaultLimit = 24
    /// The parameters of pages that are not filters. An attribute with such a name is filtered by its path.
    package static let parameterNames = [
        "sort", "limit", "cursor", "facets", "total", "include", "q", "collapse", "members",
    ]

    package init(
        store: CatalogKey,
        shelf: CatalogKey?,
        sort: Sort? = nil,
        filter: Filter? = nil,
        search: SearchText? = nil,
        facets: Set<Facet> = [],
        wantsTotal: Bool = false,
        user: UserID? = nil,
        limit: Int = defaultLimit,
        after: Cursor? = nil
    ) {
        self.store = store
        self.shelf = shelf
        self.sort = sort
        self.filter = filter
        self.search = search
        self.facets = facets
        self.wantsTotal = wantsTotal
        self.user = user
        self.limit = limit
        self.after = after
    }

    /// The beginning of the scope of its cursors.
    private var scope: String { "products/\(store)/\(shelf?.text ?? "*")" }

    /// Returns the scope of its cursors: after a change of the language, a place in the old order has none in the new one.
    ///
    /// - Parameter isUnion: whether the page shows the products of several shelves.
    package func scope(in store: Store, isUnion: Bool) -> String {
        "\(scope)\(isUnion ? "/descendants" : "") \(store.language)"
    }

    /// Returns whether the page shows the products of several shelves. The manual order is that of one shelf, and the next page
    /// shows what the first one did.
    package func showsUnion(of head: ShelfHead) -> Bool {
        if asksForUnion { return true }
        if let includesDescendants { return includesDescendants }
        if let after { return after.scope == scope(in: head.store, isUnion: true) }
        return head.state.shelf.includesDescendants && sort?.readsPositions != true
    }
}

extension PageRequest {
    /// The shelf; nil for all shelves of the store.
    package var address: ShelfAddress? { shelf.map { ShelfAddress(store, $0) } }

    /// The part of the request that names an order.
    package var requested: RequestedSort {
        get { RequestedSort(sort: sort, filter: filter, search: search, collapsesGroups: collapsesGroups) }
        set {
            (sort, filter, search) = (newValue.sort, newValue.filter, newValue.search)
            collapsesGroups = newValue.collapsesGroups
        }
    }

    /// Whether the page shows what a search finds: that of the request, or that of its cursor.
    package var isSearch: Bool { after == nil ? search != nil : after?.search != nil }

    /// The user whose remembered sorts matter to the page: a cursor contains its sort, and a search has a default of its own.
    package var rememberingUser: UserID? { after == nil && search == nil ? user : nil }

    /// Whether the page shows the products of several shelves, whatever a shelf says.
    package var asksForUnion: Bool { shelf == nil || includesDescendants == true }

    /// Returns whether a cursor is of a page of all shelves of a store, and not of the list of its products by SKU.
    package static func isCursor(_ cursor: Cursor, ofAllShelvesIn store: CatalogKey) -> Bool {
        cursor.scope.hasPrefix(PageRequest(store: store, shelf: nil).scope)
    }

    /// Checks what does not depend on the shelf.
    ///
    /// - Throws: as `plan`.
    package func check() throws(CatalogError) {
        guard Self.limits.contains(limit) else {
            throw .malformed(parameter: "limit", detail: "limit must be \(Self.limitRule) (got \(limit))")
        }
        if let after, !after.scope.hasPrefix(scope) { throw .invalidCursor }
        if asksForUnion, let sort, sort.readsPositions { throw Self.positionOfSeveral("sort") }
    }

    /// The error of a request for the manual order of several shelves.
    ///
    /// - Parameter parameter: the name of the parameter with the sort.
    static func positionOfSeveral(_ parameter: String) -> CatalogError {
        .malformed(
            parameter: parameter,
            detail: "position is the order of one shelf; sort by another key, or read one shelf, without include"
        )
    }

    /// - Parameter union: the union of shelves that the page shows; nil for a page of one shelf.
    /// - Throws: `malformed` for a limit out of range, or the manual order of several shelves; `invalidCursor` for a cursor of another shelf,
    ///   sort, filter or search, with other groups, or of an attribute that has changed; `unknownSortKey` and `malformed` for an attribute that
    ///   the store does not have; `unknownSortKey` for the relevance without a search.
    package func plan(
        for head: ShelfHead,
        remembering remembered: RememberedSorts = .none,
        of union: ShelfUnion? = nil,
        attributes: ResolvedAttributes = .none
    ) throws(CatalogError) -> PagePlan {
        let dimension = union?.dimension ?? head.state.comparisonDimension
        try check()
        let facets = try facets.resolved(in: attributes)
        guard let after else {
            let resolved = try head.resolve(
                requested,
                remembering: remembered,
                allowsPositions: union == nil,
                attributes: attributes
            )
            return PagePlan(self, resolved, head, union, dimension: dimension, facets: facets)
        }
        let named = try sort.map { sort throws(CatalogError) in
            try sort.known(in: attributes, allowsRelevance: after.search != nil)
        }
        let wanted = try filter.map { filter throws(CatalogError) in try filter.resolved(in: attributes) }
        guard after.scope == scope(in: head.store, isUnion: union != nil),
            let written = try? Sort.parse(after.sort, allowsRelevance: after.search != nil),
            let order = try? written.resolved(in: attributes), named == nil || named == order,
            union == nil || !order.readsPositions, after.values.count == order.comparedTerms.count,
            search == nil || search == after.search?.text,
            collapsesGroups == nil || collapsesGroups == after.collapsesGroups,
            let shown = try? Filter(query: after.filter).resolved(in: attributes), wanted == nil || wanted == shown
        else { throw .invalidCursor }
        let resolved = ResolvedSort(
            sort: order,
            source: sort == nil ? after.source : .query,
            filter: shown,
            filterSource: filter == nil ? after.filterSource : .query,
            search: after.search?.text,
            collapsesGroups: after.collapsesGroups
        )
        guard after.attributes == resolved.attributeDigest else { throw .invalidCursor }
        return PagePlan(self, resolved, head, union, dimension: after.dimension, facets: facets)
    }
}
