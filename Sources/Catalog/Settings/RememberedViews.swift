/// A user's remembered views for a shelf and its store; nil if there is none, or if its sort no longer exists.
package struct RememberedViews: Sendable, Hashable {
    package var shelf: RememberedView?
    package var store: RememberedView?

    package init(shelf: RememberedView? = nil, store: RememberedView? = nil) {
        self.shelf = shelf
        self.store = store
    }

    package static let none = RememberedViews()

    /// The view that applies.
    package var view: RememberedView? { shelf ?? store }
}
