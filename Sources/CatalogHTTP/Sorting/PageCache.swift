internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import Platform
internal import Synchronization

/// A cache of rendered pages by path and plan, each valid for one entity tag.
///
/// A page is served only if its tag was verified. So writes need not invalidate anything, and users with the
/// same sort share a page.
final class PageCache: Sendable {
    final class Page: Sendable {
        let tag: String
        let headers: HTTPFields
        // A buffer's storage is up to twice as large.
        let body: [UInt8]
        /// The compressed form with its headers, from the second time that a client accepts it.
        let compressed: (headers: HTTPFields, body: [UInt8])?
        private let compression = Atomic<Compression>(.new)

        private enum Compression: UInt8, AtomicRepresentable {
            /// No client has accepted the compressed form.
            case new
            case accepted
            /// The page is being compressed, or its compressed form would not be smaller.
            case begun
        }

        init(
            tag: String,
            headers: HTTPFields,
            body: [UInt8],
            compressed: (headers: HTTPFields, body: [UInt8])? = nil
        ) {
            self.tag = tag
            self.headers = headers
            self.body = body
            self.compressed = compressed
        }

        /// - Parameter acceptsGzip: whether the client accepts the compressed form.
        func response(acceptsGzip: Bool) -> Response {
            if acceptsGzip, let compressed {
                return Response(status: .ok, headers: compressed.headers, body: .chunked(compressed.body))
            }
            return Response(status: .ok, headers: headers, body: .chunked(body))
        }

        /// Whether there is a compressed form, or may be one later.
        fileprivate var mayBeCompressed: Bool { compressed != nil || compression.load(ordering: .relaxed) != .begun }

        /// Returns whether to compress the page now, because the second client accepts that.
        fileprivate func shouldBeCompressed() -> Bool {
            guard compressed == nil else { return false }
            if compression.compareExchange(expected: .new, desired: .accepted, ordering: .relaxed).exchanged {
                return false
            }
            return compression.compareExchange(expected: .accepted, desired: .begun, ordering: .relaxed).exchanged
        }

        /// Returns the page with its compressed form; nil if that is not smaller.
        fileprivate func compressing() -> Page? {
            guard let gzip = Gzip.compress(body), gzip.count < body.count else { return nil }
            var headers = headers
            headers[.contentEncoding] = "gzip"
            headers[.eTag] = ContentCoding.gzipTag(tag)
            return Page(tag: tag, headers: self.headers, body: body, compressed: (headers, gzip))
        }
    }

    /// The parts of a request that the response headers depend on.
    struct Variant: Hashable, Sendable {
        var path: String
        var includesDescendants = false
        var namesSort: Bool
        var namesFilter: Bool
        var namesSearch = false
        /// nil if the request does not say whether groups are collapsed.
        var collapsesGroups: Bool?
        var namesMembers = false
    }

    /// Identifies a page at any state of its shelf; the tag is that of one state. A later state replaces an earlier one.
    struct Key: Hashable, Sendable {
        let variant: Variant
        let resolvedSort: ResolvedSort
        let facets: Set<Facet>
        let wantsTotal: Bool
        let wantsMembers: Bool
        let limit: Int
        let after: Cursor?
        /// Computed once, because a key is used for many requests.
        private let hash: Int

        init(_ variant: Variant, _ plan: PagePlan) {
            self.variant = variant
            resolvedSort = plan.resolvedSort
            facets = plan.facets
            wantsTotal = plan.wantsTotal
            wantsMembers = plan.wantsMembers
            limit = plan.limit
            after = plan.after
            var hasher = Hasher()
            hasher.combine(variant)
            hasher.combine(resolvedSort)
            hasher.combine(after)
            hash = hasher.finalize()
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }

        /// The approximate size of the key, in bytes.
        var cost: Int { variant.path.utf8.count + (after == nil ? 0 : 512) }
    }

    private let limit: Int
    /// Limits the number of pages that are being compressed; other pages stay uncompressed until they are requested again.
    private let compressions = LimitedResource(total: 64)
    private let pages: SharedCache<Key, Page>

    /// The size of the largest page to keep, in bytes.
    private static let largest = 1 << 20

    /// - Parameter limit: the maximum size in bytes; 0 disables the cache.
    init(limit: Int) {
        self.limit = limit
        pages = SharedCache(limit: max(2, limit), largest: Self.largest) { Self.cost($0, $1) }
    }

    /// Returns a page with a tag; nil if there is none.
    func page(_ key: Key, tag: String) -> Page? {
        guard limit > 0, let page = pages[key], page.tag == tag else { return nil }
        return page
    }

    /// Returns the response with a page of the cache. A page is compressed in the background when the second client accepts that.
    func response(_ page: Page, _ key: Key, for call: Call) -> Response {
        guard page.mayBeCompressed, call.acceptsGzip else { return page.response(acceptsGzip: false) }
        if page.shouldBeCompressed(), let permit = try? compressions.permit() {
            Task.detached(executorPreference: BackgroundExecutor.shared) { [self] in
                defer { permit.release() }
                compress(page, key)
            }
        }
        return page.response(acceptsGzip: true)
    }

    /// Replaces a page by one with a compressed form.
    private func compress(_ page: Page, _ key: Key) {
        guard let compressed = page.compressing(), Self.cost(key, compressed) <= limit / 16, pages[key] === page else {
            return
        }
        pages[key] = compressed
    }

    /// Inserts a page and evicts those that were not used recently, if necessary.
    func insert(_ headers: HTTPFields, _ body: [UInt8], _ key: Key, tag: String) -> Page {
        let page = Page(tag: tag, headers: headers, body: body)
        if Self.cost(key, page) <= limit / 16 { pages[key] = page }
        return page
    }

    /// Returns the size of a page in bytes, including overhead.
    private static func cost(_ key: Key, _ page: Page) -> Int {
        page.body.count + (page.compressed?.body.count ?? 0) + key.cost + 1024
    }
}
