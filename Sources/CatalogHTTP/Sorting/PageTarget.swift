internal import Catalog
internal import Synchronization

/// The target of a page, with its request and its last plan, which are computed once.
final class PageTarget: Sendable {
    /// The request without a user.
    let request: PageRequest
    private let variant: PageCache.Variant
    private let last = Mutex<TaggedPage?>(nil)

    init(_ request: PageRequest, path: String) {
        self.request = request
        variant = PageCache.Variant(path: path, namesSort: request.sort != nil, namesFilter: request.filter != nil)
    }

    /// Returns the page of a request with this target. A plan for everyone is remembered.
    ///
    /// - Throws: as `PageRequest.plan`.
    func page(_ request: PageRequest, _ basis: PageBasis, day: Int) throws(CatalogError) -> TaggedPage {
        guard request.user == nil else { return tagged(try PlannedPage(request, basis), day: day) }
        // The versions cover everything else that a plan depends on.
        if let known = last.withLock({ $0 }), known.day == day,
            known.planned.basis.head.location == basis.head.location,
            ShelfVersion(known.planned.basis.head) == ShelfVersion(basis.head),
            known.planned.plan.keyGeneration == basis.head.state.keyGeneration
        {
            return known
        }
        let page = tagged(try PlannedPage(request, basis), day: day)
        last.withLock { $0 = page }
        return page
    }

    func tagged(_ planned: PlannedPage, day: Int) -> TaggedPage {
        TaggedPage(
            planned: planned,
            day: day,
            tag: planned.entityTag(day: day),
            key: PageCache.Key(variant, planned.plan)
        )
    }
}

/// A planned page with its entity tag and its key in the cache.
struct TaggedPage: Sendable {
    let planned: PlannedPage
    let day: Int
    let tag: String
    let key: PageCache.Key
}
