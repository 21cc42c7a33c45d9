/// A version of everything that a shelf shows; while it is equal, the shelf is unchanged.
package struct ShelfVersion: Sendable, Hashable {
    package var store: Int64
    package var shelf: Int64
    /// The inherited default sort; ancestors have versions of their own.
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
