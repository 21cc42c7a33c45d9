internal import Catalog
internal import HTTPTypes
internal import Hummingbird

/// A cache of rendered pages by path and plan, each valid for one entity tag.
///
/// A page is served only if its tag was verified. So writes need not invalidate anything, and users with the
/// same sort share a page.
final class PageCache: Sendable {
    struct Page: Sendable {
        let tag: String
        let headers: HTTPFields
        // A buffer's storage is up to twice as large.
        let body: [UInt8]

        var response: Response { Response(status: .ok, headers: headers, body: .chunked(body)) }
    }

    /// The parts of a request that the response headers depend on.
    struct Variant: Hashable, Sendable {
        var path: String
        var namesSort: Bool
        var namesFilter: Bool
    }

    /// The variant and the parts of a page's plan that its tag does not cover.
    private struct Key: Hashable, Sendable {
        let variant: Variant
        let view: ResolvedView
        let facets: Set<Facet>
        let limit: Int
        let after: Cursor?

        init(_ variant: Variant, _ plan: PagePlan) {
            self.variant = variant
            view = plan.view
            facets = plan.facets
            limit = plan.limit
            after = plan.after
        }

        /// The approximate size of the key, in bytes.
        var cost: Int { variant.path.utf8.count + (after == nil ? 0 : 512) }
    }

    private let limit: Int
    private let pages: SharedCache<Key, Page>

    /// The size of the largest page to keep, in bytes.
    private static let largest = 1 << 20

    /// - Parameter limit: the maximum size in bytes; 0 disables the cache.
    init(limit: Int) {
        self.limit = limit
        pages = SharedCache(limit: max(2, limit), largest: Self.largest) { Self.cost($0, $1) }
    }

    /// Returns a page with the tag of a plan; nil if there is none.
    func page(_ variant: Variant, _ planned: PlannedPage, tag: @autoclosure () -> String) -> Page? {
        guard limit > 0 else { return nil }
        let key = Key(variant, planned.plan)
        guard let page = pages[key], page.tag == tag() else { return nil }
        return page
    }

    /// Inserts a page and evicts those that were not used recently, if necessary.
    func insert(_ headers: HTTPFields, _ body: [UInt8], _ variant: Variant, _ planned: PlannedPage, tag: String)
        -> Page
    {
        let page = Page(tag: tag, headers: headers, body: body)
        let key = Key(variant, planned.plan)
        if limit > 0 { pages[key] = page }
        return page
    }

    /// Returns the size of a page in bytes, including overhead.
    private static func cost(_ key: Key, _ page: Page) -> Int { page.body.count + key.cost + 1024 }
}
