/// The view of a shelf that a request asks for: its sort and filter.
package struct ShelfView: Hashable, Sendable {
    /// nil: the caller's, the shelf's, the store's or the system's.
    package var sort: Sort?
    /// nil: what the caller remembers together with the sort, where that counts; else everything.
    package var filter: Filter?

    package init(sort: Sort? = nil, filter: Filter? = nil) {
        self.sort = sort
        self.filter = filter
    }
}
