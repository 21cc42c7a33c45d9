internal import Synchronization

/// The first products of a shelf by a sort, read and compared once for all who follow them.
final class ShelfFeed: Sendable {
    struct Key: Hashable {
        var address: ShelfAddress
        /// nil for the sort that the shelf has of itself, whatever that becomes.
        var sort: Sort?
        var limit: Int
    }

    /// What was shown between two changes.
    struct Window: Sendable {
        let number: Int
        /// The shelf's version when it came, and the last one at which it was still so.
        let version: Int64
        fileprivate(set) var lastVersion: Int64
        let sort: Sort
        let ids: [String]
        /// Of each product's content.
        fileprivate let stamps: [Int]
    }

    private struct State {
        /// The last few, the newest last.
        var windows: [Window] = []
        var page: ShelfPage?
        var seen: ShelfVersion?
        /// The way from an earlier window to the newest, told to all who stand there.
        var events: [Int: LiveEvent] = [:]
        var isGone = false
        var rereading = Rereading()
        var followers = Followers()
        var idleSince: ContinuousClock.Instant?
    }

    let key: Key
    private let catalog: any CatalogStore
    private let state = Mutex(State())

    /// How many windows are remembered, for who comes back.
    private static let bound = 16

    init(_ key: Key, _ catalog: any CatalogStore) {
        self.key = key
        self.catalog = catalog
    }

    /// The counters at which it was read last.
    var seen: ShelfVersion? { state.withLock { $0.seen } }

    /// - Parameter version: what the follower has.
    func follow(from version: Int64?) -> (number: Int, wakes: AsyncStream<Void>, shown: Window?) {
        state.withLock { state in
            state.idleSince = nil
            let (number, wakes) = state.followers.add()
            let matching = state.windows.filter { window in
                version.map { window.version <= $0 && $0 <= window.lastVersion } ?? false
            }
            // A version that two windows share tells nothing.
            return (number, wakes, matching.count == 1 ? matching[0] : nil)
        }
    }

    func leave(_ number: Int) {
        state.withLock { state in
            state.followers.remove(number)
            if state.followers.isEmpty { state.idleSince = .now }
        }
    }

    /// Since when nobody follows; nil while somebody does.
    var idleSince: ContinuousClock.Instant? { state.withLock { $0.idleSince } }

    func beat(turn: Int, of turns: Int) { state.withLock { $0.followers.wake(turn: turn, of: turns) } }

    func end() { state.withLock { $0.followers.end() } }

    /// The way from what a follower shows to what there is.
    ///
    /// - Parameter shown: nil where it shows nothing that is known: it is told the order whole.
    /// - Returns: nil where there is nothing to tell.
    func event(from shown: Window?) -> (event: LiveEvent, shown: Window?)? {
        state.withLock { state in
            if state.isGone { return (.gone(shown?.lastVersion ?? 0), nil) }
            guard let newest = state.windows.last, let page = state.page, shown?.number != newest.number else {
                return nil
            }
            if let event = state.events[shown?.number ?? 0] { return (event, newest) }
            guard let event = Self.event(from: shown, to: newest, page) else { return nil }
            state.events[shown?.number ?? 0] = event
            return (event, newest)
        }
    }

    private static func event(from shown: Window?, to newest: Window, _ page: ShelfPage) -> LiveEvent? {
        let reached = ShelfOrder(head: page.head, sort: newest.sort, source: page.plan.source, ids: newest.ids)
        let diff = try? OrderDiff(
            old: shown?.ids ?? [],
            new: newest.ids,
            mode: shown == nil ? .order : .moves,
            reached: reached,
            fromVersion: shown?.lastVersion
        )
        guard let diff else { return nil }
        let stamps = shown.map { Dictionary(zip($0.ids, $0.stamps)) { a, _ in a } } ?? [:]
        let changed = newest.ids.indices.filter { index in
            stamps[newest.ids[index]].map { $0 != newest.stamps[index] } ?? false
        }
        let entering = Set(diff.insertedIDs)
        let marked = diff.with(
            shown == nil ? [] : page.products.filter { entering.contains($0.sku.text) },
            changed: shown == nil ? [] : changed.map { Int32($0) }
        )
        return LiveEvent(.order, id: newest.version, data: marked.json())
    }

    /// Reads for the first time, so that a shelf that is not there is told at once.
    func start() async throws(CatalogError) {
        if state.withLock({ $0.page != nil }) { return }
        keep(try await read())
    }

    /// Reads what is new and wakes who follows, soon.
    func refresh() {
        guard state.withLock({ $0.rereading.begin() }) else { return }
        Task {
            repeat {
                // Where the database is away the next tick asks again.
                do { keep(try await read()) } catch CatalogError.notFound { markGone() } catch {}
                // Many changes in a row are told together.
                try? await Task.sleep(for: LiveHub.pace)
            } while state.withLock { $0.rereading.end() }
        }
    }

    private func read() async throws(CatalogError) -> ShelfPage {
        let request = PageRequest(
            store: key.address.store,
            shelf: key.address.shelf,
            sort: key.sort,
            limit: key.limit
        )
        guard case .page(let page, _) = try await catalog.page(request) else {
            throw .fault("a page that nobody has was told to be unchanged")
        }
        return page
    }

    private func keep(_ page: ShelfPage) {
        state.withLock { state in
            let version = page.head.state.version
            // A read that was overtaken tells nothing new.
            if let seen = state.seen, seen.shelf > version, seen.store >= page.head.storeVersion { return }
            state.seen = ShelfVersion(store: page.head.storeVersion, shelf: version)
            state.isGone = false
            state.page = page
            let ids = page.products.map(\.sku.text)
            let stamps = page.products.map(\.hashValue)
            if let last = state.windows.last, last.ids == ids, last.stamps == stamps {
                state.windows[state.windows.count - 1].lastVersion = version
                return
            }
            let window = Window(
                number: (state.windows.last?.number ?? 0) + 1,
                version: version,
                lastVersion: version,
                sort: page.plan.sort,
                ids: ids,
                stamps: stamps
            )
            state.windows = state.windows.suffix(Self.bound - 1) + [window]
            state.events = [:]
            state.followers.wake()
        }
    }

    private func markGone() {
        state.withLock { state in
            state.isGone = true
            state.followers.wake()
        }
    }
}
