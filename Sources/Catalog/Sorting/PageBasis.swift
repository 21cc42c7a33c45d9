/// Everything that a page depends on: the shelf, its store and the caller's remembered views.
package struct PageBasis: Sendable, Hashable {
    package var head: ShelfHead
    package var views: RememberedViews

    package init(head: ShelfHead, views: RememberedViews = .none) {
        self.head = head
        self.views = views
    }
}
