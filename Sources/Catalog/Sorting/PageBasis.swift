/// Everything that decides what a page shows: the shelf, its store, and the views that the caller remembers.
package struct PageBasis: Sendable, Hashable {
    package var head: ShelfHead
    package var views: RememberedViews

    package init(head: ShelfHead, views: RememberedViews = .none) {
        self.head = head
        self.views = views
    }
}
