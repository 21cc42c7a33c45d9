/// What a user remembers for a shelf and for its store; nil for nothing, or for what no longer exists.
package struct RememberedViews: Sendable, Hashable {
    package var shelf: RememberedView?
    package var store: RememberedView?

    package init(shelf: RememberedView? = nil, store: RememberedView? = nil) {
        self.shelf = shelf
        self.store = store
    }

    package static let none = RememberedViews()

    /// The one that counts.
    package var view: RememberedView? { shelf ?? store }
}
