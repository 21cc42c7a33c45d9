package import Catalog
internal import LibPQ
internal import Shelves
internal import Synchronization

/// The shelves that this server has in memory, with their views and facets.
///
/// A shelf is used only at the version that a read needs: it follows the recorded changes, or is read again. No notification changes it.
final class ShelfMemory: Sendable {
    /// The number of products up to which a shelf is read like a page: by few short queries, and from the worker that has it.
    private static let smallShelf = 500
    /// The number of products from which a shelf is sorted, filtered and counted on another thread than the event loop's.
    private static let offLoopProducts = 2000
    /// The same for a shelf or a view that follows a few changes, which takes a fraction of the time.
    private static let offLoopFollowedProducts = 10_000

    /// Reads from different servers are not shared: one may fail that another can do.
    struct LoadKey: Hashable {
        let table: TableKey
        let origin: ReadSource.Origin
    }

    /// The key of a table with views and facets.
    enum TableKey: Hashable, Sendable {
        case shelf(ShelfLocation)
        case union(ShelfUnions.Key)
    }

    /// The key of a view, or of facets: they belong to one version of a table.
    private struct ResultKey<Request: Hashable & Sendable>: Hashable, Sendable {
        let table: TableKey
        let version: Int64
        let request: Request

        /// The key of the same at another version.
        func at(_ version: Int64) -> ResultKey { ResultKey(table: table, version: version, request: request) }
    }

    private struct FacetRequest: Hashable, Sendable {
        let facets: Set<Facet>
        let filter: Filter
        let currency: Currency
    }

    /// A shelf that is kept.
    private final class Kept: Sendable {
        let shelf: ShelfSnapshot
        let readAt: ContinuousClock.Instant
        /// Whether it was read as a whole.
        let isWhole: Bool
        /// Whether a request has used the shelf since this was last asked.
        let isUsed: Atomic<Bool>

        init(_ shelf: ShelfSnapshot, isWhole: Bool, isUsed: Bool) {
            (self.shelf, readAt, self.isWhole) = (shelf, .now, isWhole)
            self.isUsed = Atomic(isUsed)
        }
    }

    private let database: Database
    private let shares: ShelfMemoryShares
    private let hits = Atomic(0)
    private let shelves: SharedCache<ShelfLocation, Kept>
    /// The shelf that was read last of those that are too large for `shelves`.
    private let large = Mutex<(location: ShelfLocation, kept: Kept)?>(nil)
    /// The usual size of the keys of a sort, in bytes.
    private static let sortSize = 64
    /// The size of the largest shelf in `shelves`, in bytes.
    private let largest: Int
    private typealias Results<Request: Hashable & Sendable, Value: Sendable> = SharedCache<ResultKey<Request>, Value>
    private let views: Results<ViewRequest, TableView>
    private let facets: Results<FacetRequest, Facets>
    private let loads = SharedWork<LoadKey, ShelfSnapshot?>()
    private let images = Mutex(ImageQueue())
    /// The size of unions, in bytes.
    private let unionSize: @Sendable () -> Int
    private let fit = Mutex(())

    /// - Parameter unionSize: returns the size of the unions that have a part of the memory, in bytes.
    init(_ database: Database, _ shares: ShelfMemoryShares, unionSize: @escaping @Sendable () -> Int) {
        (self.database, self.shares, self.unionSize) = (database, shares, unionSize)
        largest = shares.shelves / 2
        shelves = SharedCache(limit: shares.shelvesLimit, largest: largest) { $1.shelf.size }
        views = Results(limit: shares.views, largest: shares.views / 4) {
            Results<ViewRequest, TableView>.entryOverhead + Self.sortSize + $0.request.filter.size + $1.size
        }
        facets = Results(limit: shares.facets, largest: shares.facets / 4) {
            Results<FacetRequest, Facets>.entryOverhead + $0.request.filter.size + $1.size
        }
    }

    /// The use of the memory.
    var use: ShelfMemoryUse {
        var use = ShelfMemoryUse(
            limit: shares.limit,
            shelves: shelves.use,
            views: views.use,
            facets: facets.use,
            hits: hits.load(ordering: .relaxed)
        )
        if let size = large.withLock({ $0?.kept.shelf.size }) {
            use.shelves.count += 1
            use.shelves.size += size
        }
        return use
    }

    // MARK: - Shelves

    /// A read of shelves, which begins before its transaction.
    struct Load: Sendable {
        fileprivate let start: ContinuousClock.Instant
        let origin: ReadSource.Origin
    }

    /// Begins to read shelves in a transaction.
    func beginLoad(_ origin: ReadSource.Origin) -> Load { Load(start: .now, origin: origin) }

    /// Returns a shelf in memory at a version; nil if it is not there.
    func known(_ location: ShelfLocation, at version: Int64) -> ShelfSnapshot? {
        kept(location).flatMap { $0.shelf.version == version ? hit($0) : nil }
    }

    /// Returns a shelf at a version.
    ///
    /// - Parameter products: the number of its products at this version.
    /// - Returns: nil if the shelf has another version by now.
    /// - Throws: `ReplicaProblem` if the memory is ahead of a replica, so that the primary answers.
    func shelf(
        _ location: ShelfLocation,
        at version: Int64,
        products: Int,
        _ source: ReadSource
    ) async throws -> ShelfSnapshot? {
        if let known = kept(location) {
            if known.shelf.version == version { return hit(known) }
            try source.origin.requireCommits(if: known.shelf.version > version)
        }
        let load = beginLoad(source.origin)
        let isSmall = products <= Self.smallShelf
        let found = try await loads.value(LoadKey(table: .shelf(location), origin: source.origin)) {
            var isDamaged = false
            // A large shelf that is not in memory is read in a transaction.
            if isSmall || self.kept(location) != nil {
                let following = self.following(location, readsImage: isSmall, load)
                let latest = try await self.read(following, source)
                if let found = await self.apply(latest, following) { return found }
                isDamaged = latest.isDamaged
            }
            guard isSmall else {
                return try await source.snapshot(within: .shelf) { try self.read(location, load, $0) }
            }
            let whole = ShelfReader.wholeQuery(location)
            let found = try await source.read([whole], into: nil as ShelfSnapshot?) { found, _, rows in
                found = try ShelfReader.whole(rows)
            }
            if let found {
                self.keep(ShelfReader.ReadShelf(shelf: found, kind: .whole), location, load, isDamaged: isDamaged)
            }
            return found
        }
        return found?.version == version ? found : nil
    }

    /// The query for the way from the version of a shelf in memory to the current one.
    struct Following: Sendable {
        /// nil if the shelf is not in memory.
        fileprivate let shelf: ShelfSnapshot?
        let location: ShelfLocation
        let query: PostgresQuery
        fileprivate let load: Load
    }

    private func read(_ following: Following, _ source: ReadSource) async throws -> ShelfReader.Latest {
        try await source.read([following.query], into: ShelfReader.Latest()) { $0 = try ShelfReader.latest($2) }
    }

    /// Returns the query for the changes since the version in memory, to send it with others; nil without such a version. It does not
    /// ask for an image: each of the requests that wait for the same shelf would read it.
    func following(_ location: ShelfLocation, _ source: ReadSource) -> Following? {
        guard kept(location) != nil else { return nil }
        return following(location, readsImage: false, beginLoad(source.origin))
    }

    private func following(_ location: ShelfLocation, readsImage: Bool, _ load: Load) -> Following {
        let known = kept(location)?.shelf
        let query = ShelfReader.latestQuery(after: known, location, readsImage: readsImage)
        return Following(shelf: known, location: location, query: query, load: load)
    }

    /// Keeps the shelf that was read, and returns it; nil if it must be read as a whole.
    func apply(_ latest: ShelfReader.Latest, _ following: Following) async -> ShelfSnapshot? {
        let known = following.shelf
        if latest.image == nil, let known, latest.changes?.version == known.version { return known }
        let found =
            if let known {
                await Self.compute(known, from: Self.offLoopFollowedProducts) { latest.shelf(after: known) }
            } else {
                latest.shelf(after: nil)
            }
        guard let found else { return nil }
        keep(found, following.location, following.load)
        return found.shelf
    }

    // MARK: - Images

    /// Returns the shelves in memory that requests have used since the last call.
    func takeUsed() -> [ShelfLocation] {
        var entries = shelves.entries
        if let large = large.withLock({ $0 }) { entries.append((large.location, large.kept)) }
        return entries.filter { $0.value.isUsed.exchange(false, ordering: .relaxed) }.map(\.key)
    }

    /// Whether less than half of the memory for shelves is used.
    var isHalfEmpty: Bool { shelves.use.size < shelves.limit / 2 }

    /// Removes and returns the next shelf whose image this server should write; nil if there is none.
    func nextImage() -> ImageQueue.Entry? { images.withLock { $0.next(at: .now) } }

    /// Reads a shelf from its image into memory.
    ///
    /// - Returns: false without a usable image.
    func readImage(_ location: ShelfLocation) async throws -> Bool {
        let load = beginLoad(.primary)
        let query = ShelfReader.latestQuery(after: nil, location, readsImage: true)
        let found = try await database.longReads.perform(within: .shelf, of: .store(location.storeID)) { connection in
            try connection.query(query.statement, query.parameters) { try ShelfReader.latest($0) }
        }
        guard let shelf = found.shelf(after: nil) else {
            enterImage(of: location, isDamaged: found.isDamaged)
            return false
        }
        keep(shelf, location, load, isUsed: false)
        return true
    }

    /// Returns a shelf in memory that was read as a whole; nil without one.
    func wholeShelf(_ location: ShelfLocation) -> ShelfSnapshot? {
        kept(location).flatMap { $0.isWhole ? $0.shelf : nil }
    }

    /// Enters a shelf in the queue for images.
    private func enterImage(of location: ShelfLocation, isDamaged: Bool) {
        var entry = ImageQueue.Entry(location: location)
        entry.isDamaged = isDamaged
        images.withLock { $0.insert(entry, at: .now) }
    }

    // MARK: - Reads in transactions

    /// Returns a shelf at a version that was read in the same transaction, which only reads.
    ///
    /// - Returns: nil if the shelf has another version by now. On Citus, a transaction may see several versions.
    /// - Throws: `ReplicaProblem`, as `shelf`.
    func load(
        _ location: ShelfLocation,
        at version: Int64,
        _ load: Load,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfSnapshot? {
        if let known = kept(location) {
            if known.shelf.version == version { return hit(known) }
            try load.origin.requireCommits(if: known.shelf.version > version)
        }
        let found = try read(location, load, connection)
        return found?.version == version ? found : nil
    }

    /// Returns a shelf in a transaction that has locked it, but not changed it yet. A shelf that is read for this is not kept.
    ///
    /// - Throws: `notFound`.
    func locked(
        _ shelf: LocatedHead,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfTable {
        let (location, state) = (shelf.location, shelf.head.state)
        if let known = kept(location)?.shelf, known.version == state.version { return known.table }
        guard let found = try ShelfReader.read(location.shelfID, of: location.storeID, connection).shelf else {
            throw CatalogError.notFound("shelf “\(state.shelf.key)”")
        }
        return found.shelf.table
    }

    /// Reads a shelf, or what changed since the version in memory, and keeps it.
    ///
    /// - Returns: nil if it does not exist.
    private func read(
        _ location: ShelfLocation,
        _ load: Load,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfSnapshot? {
        let known = kept(location)?.shelf
        let (found, isDamaged) = try ShelfReader.read(after: known, location.shelfID, of: location.storeID, connection)
        guard let found else { return nil }
        keep(found, location, load, isDamaged: isDamaged)
        return found.shelf
    }

    private func hit(_ known: Kept) -> ShelfSnapshot {
        hits.add(1, ordering: .relaxed)
        if !known.isUsed.load(ordering: .relaxed) { known.isUsed.store(true, ordering: .relaxed) }
        return known.shelf
    }

    private func kept(_ location: ShelfLocation) -> Kept? {
        shelves[location] ?? large.withLock { $0?.location == location ? $0?.kept : nil }
    }

    /// Notes that a request uses a shelf, whose products it has in a union.
    func noteUse(of location: ShelfLocation) { kept(location)?.isUsed.store(true, ordering: .relaxed) }

    /// Keeps a shelf that was read, unless a later version is kept.
    ///
    /// - Parameters:
    ///   - isDamaged: whether its stored image cannot be read.
    ///   - isUsed: whether a request needs it.
    private func keep(
        _ found: ShelfReader.ReadShelf,
        _ location: ShelfLocation,
        _ load: Load,
        isDamaged: Bool = false,
        isUsed: Bool = true
    ) {
        let shelf = found.shelf
        switch found.kind {
        case .changes: images.withLock { $0.noteChange(of: location, at: .now) }
        case .image where found.changeCount <= max(4, shelf.table.count / 32): break
        case .image, .whole: enterImage(of: location, isDamaged: isDamaged)
        }
        database.observer.observe(.shelfRead(found.kind, .now - load.start))
        if let latest = kept(location), latest.shelf.version >= shelf.version {
            // The primary has an earlier version than it had before the transaction began: it has lost commits.
            let isLost = latest.shelf.version > shelf.version && latest.readAt < load.start && load.origin.hasAllCommits
            guard isLost else { return }
        }
        let kept = Kept(shelf, isWhole: found.kind == .whole, isUsed: isUsed)
        if shelf.size <= largest {
            shelves[location] = kept
        } else {
            shelves[location] = nil
            large.withLock { $0 = (location, kept) }
        }
    }

    /// Limits the shelves to what views, facets and unions leave of the memory.
    func fitShelves() {
        fit.withLock { _ in
            shelves.limit = shares.shelvesLimit - views.use.size - facets.use.size - unionSize()
        }
    }

    // MARK: - Views and facets

    /// Returns a view of a shelf.
    func view(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) async -> TableView {
        let result = ResultKey(table: key, version: shelf.version, request: ViewRequest(plan))
        if let known = views[result] { return known }
        let isFollowed = shelf.steps.contains { views[result.at($0.version)] != nil }
        return await Self.compute(shelf, from: isFollowed ? Self.offLoopFollowedProducts : Self.offLoopProducts) {
            self.viewNow(plan, of: shelf, at: key)
        }
    }

    /// The same on the current thread, which is not an event loop's.
    func viewNow(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) -> TableView {
        let result = ResultKey(table: key, version: shelf.version, request: ViewRequest(plan))
        if let known = views[result] { return known }
        let view = earlierView(result, of: shelf) ?? shelf.table.view(result.request)
        views[result] = view
        fitShelves()
        return view
    }

    /// Returns a view from that of an earlier version, which leaves the memory; nil if there is none, or if too many rows have changed.
    private func earlierView(_ key: ResultKey<ViewRequest>, of shelf: ShelfSnapshot) -> TableView? {
        var changed: Set<UInt32> = []
        for step in shelf.steps {
            changed.formUnion(step.rows)
            let earlier = key.at(step.version)
            guard let view = views[earlier] else { continue }
            views[earlier] = nil
            return shelf.table.view(view, changed: Array(changed))
        }
        return nil
    }

    /// Returns the facets of a page.
    func facets(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) async -> Facets {
        if let known = facets[Self.facetKey(plan, shelf, key)] { return known }
        return await Self.compute(shelf, from: Self.offLoopProducts) { self.facetsNow(plan, of: shelf, at: key) }
    }

    /// The same on the current thread, which is not an event loop's.
    private func facetsNow(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) -> Facets {
        let result = Self.facetKey(plan, shelf, key)
        if let known = facets[result] { return known }
        let counted = shelf.table.facets(plan.facets, plan.resolvedSort.filter, in: plan.currency)
        facets[result] = counted
        fitShelves()
        return counted
    }

    private static func facetKey(
        _ plan: PagePlan,
        _ shelf: ShelfSnapshot,
        _ key: TableKey
    ) -> ResultKey<FacetRequest> {
        let request = FacetRequest(facets: plan.facets, filter: plan.resolvedSort.filter, currency: plan.currency)
        return ResultKey(table: key, version: shelf.version, request: request)
    }

    /// Returns the result of work, which is done on another thread if the shelf has at least so many products.
    private static func compute<Value: Sendable>(
        _ shelf: ShelfSnapshot,
        from offLoopProducts: Int,
        _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        if shelf.table.count < offLoopProducts { return work() }
        return await Task(executorPreference: globalConcurrentExecutor) { work() }.value
    }
}

extension ShelfTable {
    /// Returns the products in the order of a view.
    func ids(_ plan: PagePlan) -> [String] { view(ViewRequest(plan)).rows.map { sku(Int($0)).text } }
}

extension ViewRequest {
    init(_ plan: PagePlan) {
        self.init(
            sort: plan.sort,
            filter: plan.resolvedSort.filter,
            dimension: plan.dimension,
            sortsSoldOutLast: plan.sortsSoldOutLast,
            currency: plan.currency
        )
    }
}

extension Filter {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int { 4 * query.utf8.count }
}

extension Facets {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int {
        let texts = (brands + tags).reduce(0) { $0 + 48 + $1.value.utf8.count }
        return 256 + texts + prices.count * MemoryLayout<PriceCount>.stride
    }
}

/// How the memory for shelves is divided.
package struct ShelfMemoryShares: Sendable, Hashable {
    /// The size of everything that is kept but one large shelf and one large union, in bytes.
    package let limit: Int

    package init(limit: Int) { self.limit = limit }

    /// The share of shelves, which also get what unions, views and facets leave of theirs.
    var shelves: Int { limit / 2 }
    /// The limit for shelves while the caches of unions, views and facets are empty.
    var shelvesLimit: Int { limit - products }
    var unions: Int { limit / 8 }
    var views: Int { limit / 32 * 5 }
    var facets: Int { limit / 32 }
    /// The share of rendered products, which the API keeps.
    package var products: Int { limit / 16 * 3 }
}

/// The use of the memory for shelves.
package struct ShelfMemoryUse: Sendable, Hashable {
    /// The limit of everything but one large shelf and one large union, in bytes.
    package var limit: Int
    /// The shelves, with the large one.
    package var shelves: CacheUse
    /// Shelves with those below them, in tables of their own.
    package var unions = CacheUse()
    package var views: CacheUse
    package var facets: CacheUse
    /// Rendered products, which the API keeps.
    package var products = CacheUse()
    /// The number of reads that found their shelf at the required version.
    package var hits: Int

    package var kinds: [(name: String, use: CacheUse)] {
        [("shelves", shelves), ("unions", unions), ("views", views), ("facets", facets), ("products", products)]
    }

    /// The size of everything, in bytes.
    package var bytes: Int { kinds.reduce(0) { $0 + $1.use.size } }
}
