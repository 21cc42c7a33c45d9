internal import Catalog
internal import CatalogJSON
internal import Synchronization

/// The first products of a shelf by a sort, read and compared once for all subscribers.
final class ShelfFeed: Sendable {
    struct Key: Hashable {
        var address: ShelfAddress
        /// The sort; nil for the shelf's current default.
        var sort: Sort?
        var filter: Filter?
        /// The search; nil for all products.
        var search: SearchText?
        /// Whether the products of the shelves below are shown, too; nil for what the shelf says.
        var includesDescendants: Bool?
        /// Whether each group of products has one card; nil for what the shelf says.
        var collapsesGroups: Bool?
        var limit: Int
    }

    /// The shelf's first products, as they were between two changes.
    struct Window: Sendable {
        let number: Int
        /// The id of its event: the shelf version when the window appeared, or a number that only this server knows.
        let eventID: Int64
        /// The ids at which the products were read with this content. Between two of them they may have differed.
        fileprivate(set) var eventIDs: Set<Int64>
        /// Whether ids of events are versions of the shelf.
        fileprivate let hasVersions: Bool
        let sort: Sort
        /// The summary of the search; nil without one.
        let search: SearchSummary?
        let ids: [String]
        /// The hash of each product's content, and of what it represents.
        fileprivate let contentHashes: [Int]
    }

    /// Identifies an event to the newest window.
    private struct EventKey: Hashable {
        /// The number of the subscriber's window; nil if it is unknown.
        var window: Int?
        var includesProducts: Bool
    }

    private struct State {
        /// The most recent windows, the newest last.
        var windows: [Window] = []
        var page: ShelfPage?
        /// The shelf version at the last read; nil before it, or if the shelf does not exist.
        var lastVersion: ShelfVersion?
        /// The union at the last read; nil for one shelf.
        var lastUnion: ShelfUnion?
        /// The number of the last read that began, and of the last one that was applied.
        var (begun, applied) = (0, 0)
        /// The events from earlier windows to the newest.
        var events: [EventKey: LiveEvent] = [:]
        var isGone = false
        /// The initial check, shared by new subscribers.
        var starting: Task<Result<Void, CatalogError>, Never>?
    }

    private struct PageRead: Sendable {
        /// Later reads have higher numbers.
        let number: Int
        let page: ShelfPage
    }

    let key: Key
    let subscribers = Subscribers()
    private let readCoalescer = ReadCoalescer()
    private let basisCoalescer = ReadCoalescer()
    private let pages: any PageStore
    private let versions: any VersionStore
    private let readLimiter: AsyncSemaphore
    private let observer: Observer<FeedObservation>
    private let state = Mutex(State())

    /// The number of windows kept for reconnects.
    private static let limit = 16
    /// The maximum number of ids of events per window.
    private static let eventLimit = 64

    init(
        _ key: Key,
        _ pages: any PageStore,
        _ versions: any VersionStore,
        _ readLimiter: AsyncSemaphore,
        _ observer: Observer<FeedObservation> = .none
    ) {
        self.key = key
        self.pages = pages
        self.versions = versions
        self.readLimiter = readLimiter
        self.observer = observer
    }

    /// Returns whether the feed is outdated, given the shelf's version; nil if the shelf does not exist.
    func isOutdated(_ version: ShelfVersion?) -> Bool {
        state.withLock { state in version != state.lastVersion && !(version == nil && state.isGone) }
    }

    /// Whether the products are those of several shelves, whose versions `isOutdated` does not know.
    var showsUnion: Bool {
        state.withLock { $0.page == nil ? key.includesDescendants == true : $0.lastUnion != nil }
    }

    private func isOutdated(_ basis: PageBasis) -> Bool {
        isOutdated(ShelfVersion(basis.head)) || state.withLock { $0.lastUnion != basis.union }
    }

    // MARK: - Events

    /// Returns the window at the id of an event; nil if it is not certain.
    func window(at eventID: Int64) -> Window? {
        state.withLock { state in
            let matching = state.windows.filter { $0.eventIDs.contains(eventID) }
            // Store settings can change the content without a new shelf version.
            return matching.count == 1 ? matching[0] : nil
        }
    }

    /// Returns the event from a subscriber's window to the newest window.
    ///
    /// - Parameters:
    ///   - shown: nil if the subscriber's window is unknown: the event has the whole window.
    ///   - includesProducts: whether an event with the whole window has the products, too.
    /// - Returns: nil if nothing changed.
    func event(from shown: Window?, includingProducts includesProducts: Bool = false) -> (
        event: LiveEvent, shown: Window?
    )? {
        state.withLock { state in
            if state.isGone { return (.gone(shown?.eventID ?? 0), nil) }
            guard let newest = state.windows.last, let page = state.page, shown?.number != newest.number else {
                return nil
            }
            let key = EventKey(window: shown?.number, includesProducts: shown == nil && includesProducts)
            if let event = state.events[key] { return (event, newest) }
            guard let event = Self.event(from: shown, to: newest, page, key.includesProducts) else { return nil }
            state.events[key] = event
            return (event, newest)
        }
    }

    private static func event(
        from shown: Window?,
        to newest: Window,
        _ page: ShelfPage,
        _ includesProducts: Bool
    ) -> LiveEvent? {
        let reached = ShelfOrder(
            head: page.head,
            union: page.plan.union,
            resolvedSort: page.plan.resolvedSort,
            list: OrderedIDs(newest.ids),
            search: page.search
        )
        let diff = try? OrderDiff(
            old: shown?.ids ?? [],
            new: newest.ids,
            mode: shown == nil ? .order : .moves,
            targetOrder: reached,
            fromVersion: newest.hasVersions && shown?.hasVersions == true ? shown?.eventID : nil,
            hasVersions: newest.hasVersions
        )
        guard let diff else { return nil }
        guard let shown else {
            let whole = includesProducts ? diff.with(page.shown, changed: []) : diff
            return LiveEvent(.order, id: newest.eventID, data: whole.json())
        }
        let oldHashes = Dictionary(zip(shown.ids, shown.contentHashes)) { a, _ in a }
        let changed = newest.ids.indices.filter { index in
            oldHashes[newest.ids[index]].map { $0 != newest.contentHashes[index] } ?? false
        }
        let marked = diff.with([], changed: changed.map { Int32($0) })
        let included = Set(marked.newIDs)
        let withProducts = marked.with(
            page.shown.filter { included.contains($0.id) },
            changed: changed.map { Int32($0) }
        )
        return LiveEvent(.order, id: newest.eventID, data: withProducts.json())
    }

    // MARK: - Reading

    /// Brings the feed up to date before the first event. Concurrent subscribers share one check,
    /// for example when many reconnect after a drain.
    ///
    /// - Throws: `notFound`.
    func start() async throws(CatalogError) {
        let task = state.withLock { state in
            if let starting = state.starting { return starting }
            let starting = Task { await self.check() }
            state.starting = starting
            return starting
        }
        try await task.value.get()
    }

    private func check() async -> Result<Void, CatalogError> {
        defer { state.withLock { $0.starting = nil } }
        do throws(CatalogError) {
            if showsUnion {
                guard isOutdated(try await pages.basis(of: request)) else { return .success(()) }
            } else {
                let version = try await versions.versions(of: [key.address])[key.address] ?? nil
                guard version == nil || isOutdated(version) else { return .success(()) }
            }
            let reading = await readLimiter.run { () async -> Result<PageRead, CatalogError> in
                do throws(CatalogError) { return .success(try await read()) } catch { return .failure(error) }
            }
            apply(try reading.get())
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Schedules a read if one of several shelves has changed.
    func refreshIfOutdated() {
        basisCoalescer.run {
            do throws(CatalogError) {
                if self.isOutdated(try await self.pages.basis(of: self.request)) { self.refresh() }
            } catch {
                // If the database is unreachable, the next poll tries again.
                if case .notFound = error, self.isOutdated(nil) { self.refresh() }
            }
        }
    }

    /// Schedules a read, which wakes the subscribers.
    func refresh() {
        let noticed = ContinuousClock.now
        readCoalescer.run {
            await self.readLimiter.run {
                // If the database is unreachable, the next poll tries again.
                do {
                    guard self.apply(try await self.read()) else { return }
                    self.observer.observe(.feedUpdated(.shelf, delay: ContinuousClock.now - noticed))
                } catch {
                    switch error {
                    // Also an order by an attribute that the store no longer has.
                    case CatalogError.notFound, CatalogError.unknownSortKey, CatalogError.unknownFilter,
                        CatalogError.malformed:
                        self.markGone()
                    default: break
                    }
                }
            }
        }
    }

    private var request: PageRequest {
        var request = PageRequest(
            store: key.address.store,
            shelf: key.address.shelf,
            sort: key.sort,
            filter: key.filter,
            search: key.search,
            limit: key.limit
        )
        request.includesDescendants = key.includesDescendants
        request.collapsesGroups = key.collapsesGroups
        request.wantsMatches = false
        return request
    }

    private func read() async throws(CatalogError) -> PageRead {
        let number = state.withLock { state in
            state.begun += 1
            return state.begun
        }
        return PageRead(number: number, page: try await pages.page(request))
    }

    /// Returns whether the feed has a new window.
    @discardableResult
    private func apply(_ reading: PageRead) -> Bool {
        let page = reading.page
        let isNew = state.withLock { state in
            let union = page.plan.union
            // Several shelves have several versions, and what a search finds changes without the version of the shelf.
            let hasVersions = union == nil && key.search == nil
            // The clock keeps servers from using the same id.
            let eventID =
                hasVersions
                ? page.head.state.version
                : max((state.windows.last?.eventID ?? 0) + 1, Timestamp.now().microseconds)
            // Ignore a read that began before the last one. Versions would not do: after a failover that lost commits, the
            // shelf has an older version than the one that was seen.
            guard reading.number > state.applied else { return false }
            state.applied = reading.number
            state.lastVersion = ShelfVersion(page.head)
            state.lastUnion = union
            state.isGone = false
            state.page = page
            let shown = page.shown
            let ids = shown.map(\.id)
            let hashes = shown.map(\.hashValue)
            if let last = state.windows.last, last.ids == ids, last.contentHashes == hashes,
                last.sort == page.plan.sort, last.search == page.search, last.hasVersions == hasVersions
            {
                if hasVersions, last.eventIDs.count < Self.eventLimit {
                    state.windows[state.windows.count - 1].eventIDs.insert(eventID)
                }
                return false
            }
            let window = Window(
                number: (state.windows.last?.number ?? 0) + 1,
                eventID: eventID,
                eventIDs: [eventID],
                hasVersions: hasVersions,
                sort: page.plan.sort,
                search: page.search,
                ids: ids,
                contentHashes: hashes
            )
            state.windows = state.windows.suffix(Self.limit - 1) + [window]
            state.events = [:]
            return true
        }
        if isNew { subscribers.wake() }
        return isNew
    }

    private func markGone() {
        state.withLock { state in
            state.isGone = true
            state.lastVersion = nil
        }
        subscribers.wake()
    }
}
