/// A version of everything that a shelf shows; while it is equal, the shelf is unchanged.
package struct ShelfVersion: Sendable, Hashable {
    /// The version of the store, which covers what shelves inherit: their parents and default sorts.
    package var store: Int64
    package var shelf: Int64
    /// The revision of the attributes of the deployment.
    package var attributes: Int64
    /// The revision of the synonyms of the deployment.
    package var synonyms: Int64

    package init(store: Int64, shelf: Int64, attributes: Int64 = 0, synonyms: Int64 = 0) {
        self.store = store
        self.shelf = shelf
        self.attributes = attributes
        self.synonyms = synonyms
    }

    package init(_ head: ShelfHead) {
        self.init(
            store: head.storeVersion,
            shelf: head.state.version,
            attributes: head.attributeRevision,
            synonyms: head.synonymRevision
        )
    }
}
