/// Everything that a page depends on, apart from its products: the shelf or union, the store with its attributes, and the caller's
/// remembered sorts.
package final class PageBasis: Sendable, Equatable {
    package let head: ShelfHead
    package let sorts: RememberedSorts
    /// The revision of the caller's settings; 0 without a caller or settings.
    package let revision: Int64
    /// The union of shelves that the page shows; nil for a page of one shelf.
    package let union: ShelfUnion?
    /// The attributes of the store.
    package let attributes: ResolvedAttributes

    package init(
        head: ShelfHead,
        sorts: RememberedSorts = .none,
        revision: Int64 = 0,
        union: ShelfUnion? = nil,
        attributes: ResolvedAttributes = .none
    ) {
        self.attributes = attributes
        self.union = union
        self.head = head
        self.sorts = sorts
        self.revision = revision
    }

    /// Returns the basis with other remembered sorts, whatever those of the caller are.
    func remembering(_ sorts: RememberedSorts) -> PageBasis {
        PageBasis(head: head, sorts: sorts, revision: revision, union: union, attributes: attributes)
    }

    package static func == (a: PageBasis, b: PageBasis) -> Bool {
        a === b
            || (a.head == b.head && a.sorts == b.sorts && a.revision == b.revision && a.union == b.union
                && a.attributes == b.attributes)
    }
}
