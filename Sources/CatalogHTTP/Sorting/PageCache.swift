internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import OrderedCollections
internal import Synchronization

/// A cache of rendered pages by path and plan, each valid for one entity tag.
///
/// A page is served only if its tag was verified. So writes need not invalidate anything, and users with the
/// same sort share a page.
final class PageCache: Sendable {
    struct Page: Sendable {
        let tag: String
        let headers: HTTPFields
        let body: ByteBuffer

        var response: Response { Response(status: .ok, headers: headers, body: .init(byteBuffer: body)) }
    }

    /// The parts of a request that the response headers depend on.
    struct Variant: Hashable, Sendable {
        var path: String
        var namesSort: Bool
        var namesFilter: Bool
    }

    /// The variant and the parts of a page's plan that its tag does not cover.
    private struct Key: Hashable {
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

    private struct State {
        /// The pages, oldest first.
        var pages: OrderedDictionary<Key, Page> = [:]
        var bytes = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the maximum size in bytes; 0 disables the cache.
    init(limit: Int) { self.limit = limit }

    /// Returns a page with the tag of a plan; nil if there is none.
    func page(_ variant: Variant, _ planned: PlannedPage, tag: @autoclosure () -> String) -> Page? {
        guard limit > 0 else { return nil }
        let key = Key(variant, planned.plan)
        guard let page = state.withLock({ $0.pages[key] }), page.tag == tag() else { return nil }
        return page
    }

    /// Inserts a page and evicts the oldest ones if necessary.
    func insert(_ headers: HTTPFields, _ body: ByteBuffer, _ variant: Variant, _ planned: PlannedPage, tag: String)
        -> Page
    {
        let page = Page(tag: tag, headers: headers, body: body)
        let key = Key(variant, planned.plan)
        guard cost(key, page) <= limit / 16 else { return page }
        state.withLock { state in
            if let old = state.pages.updateValue(page, forKey: key) { state.bytes -= cost(key, old) }
            state.bytes += cost(key, page)
            guard state.bytes > limit else { return }
            // Evict an eighth at a time, because removing from the front moves all remaining entries.
            var (count, freed) = (0, 0)
            for (key, page) in state.pages where freed < limit / 8 {
                freed += cost(key, page)
                count += 1
            }
            state.pages.removeFirst(count)
            state.bytes -= freed
        }
        return page
    }

    /// Returns the size of a page in bytes, including overhead.
    private func cost(_ key: Key, _ page: Page) -> Int { page.body.storageCapacity + key.cost + 1024 }
}
