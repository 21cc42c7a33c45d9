/// What everything depends on that a shelf shows: while it is the same, so is the shelf.
package struct ShelfVersion: Sendable, Hashable {
    package var store: Int64
    package var shelf: Int64
    /// The default sort of the nearest ancestor that has one, where the shelf has none: ancestors count for themselves.
    package var inheritedSort: Sort?

    package init(store: Int64, shelf: Int64, inheritedSort: Sort?) {
        self.store = store
        self.shelf = shelf
        self.inheritedSort = inheritedSort
    }

    package init(_ head: ShelfHead) {
        self.init(store: head.storeVersion, shelf: head.state.version, inheritedSort: head.state.inheritedSort)
    }
}
