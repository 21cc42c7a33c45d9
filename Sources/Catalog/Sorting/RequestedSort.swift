/// The sort, the filter and the search that a request names, and whether it collapses groups.
package struct RequestedSort: Hashable, Sendable {
    /// nil for the caller's, the shelf's, the store's or the system's sort, or with a search for the relevance.
    package var sort: Sort?
    /// nil for the filter remembered with the caller's sort, if that sort applies; otherwise no filter.
    package var filter: Filter?
    /// The search, which has a default sort of its own; nil for all products.
    package var search: SearchText?
    /// Whether each group of products has one card; nil for what the caller's remembered sort or the shelf says. The remembered
    /// choice is ignored if the request has a search or a sort.
    package var collapsesGroups: Bool?

    package init(
        sort: Sort? = nil,
        filter: Filter? = nil,
        search: SearchText? = nil,
        collapsesGroups: Bool? = nil
    ) {
        self.sort = sort
        self.filter = filter
        self.search = search
        self.collapsesGroups = collapsesGroups
    }

    /// Whether the settings of a shelf, a store or a user decide the sort.
    package var isDefault: Bool { sort == nil && search == nil }

    /// Whether the sort asks for the manual order of a shelf.
    package var readsPositions: Bool { sort?.readsPositions ?? false }
}
