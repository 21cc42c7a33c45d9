/// The sort and filter that a request names.
package struct RequestedSort: Hashable, Sendable {
    /// nil for the caller's, the shelf's, the store's or the system's sort.
    package var sort: Sort?
    /// nil for the filter remembered with the caller's sort, if that sort applies; otherwise no filter.
    package var filter: Filter?

    package init(sort: Sort? = nil, filter: Filter? = nil) {
        self.sort = sort
        self.filter = filter
    }

    /// Whether the sort asks for the manual order of a shelf.
    package var readsPositions: Bool { sort?.readsPositions ?? false }
}
