/// Everything that a page depends on: the shelf, its store and the caller's remembered views.
package struct PageBasis: Sendable, Hashable {
    package var head: ShelfHead
    package var views: RememberedViews
    /// The revision of the caller's settings; 0 without a caller or settings.
    package var revision: Int64

    package init(head: ShelfHead, views: RememberedViews = .none, revision: Int64 = 0) {
        self.head = head
        self.views = views
        self.revision = revision
    }
}
