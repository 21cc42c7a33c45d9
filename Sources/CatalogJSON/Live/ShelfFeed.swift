internal import Catalog

internal import Synchronization

/// The first products of a shelf by a sort, read and compared once for all who follow them.
final class ShelfFeed: Sendable {
    struct Key: Hashable {
        var address: ShelfAddress
        /// nil for the sort that the shelf has of itself, whatever that becomes.
        var sort: Sort?
        var filter: Filter?
        var limit: Int
    }

    /// What was shown between two changes.
    struct Window: Sendable {
        let number: Int
        /// The shelf's version when it came: the id of the event that told of it.
        let version: Int64
        /// The versions at which the shelf was seen to show it. Between two of them it may have shown something else.
        fileprivate(set) var versions: Set<Int64>
        let sort: Sort
        let ids: [String]
        /// Of each product's content.
        fileprivate let stamps: [Int]
    }

    private struct State {
        /// The last few, the newest last.
        var windows: [Window] = []
        var page: ShelfPage?
        /// What the shelf was read at last; nil where it is not there, or was not read yet.
        var seen: ShelfVersion?
        /// The way from an earlier window to the newest, told to all who stand there.
        var events: [Int: LiveEvent] = [:]
        var isGone = false
        /// The look that those who come now wait for together.
        var starting: Task<Result<Void, CatalogError>, Never>?
    }

    /// A page, and whether its version is surely its own.
    private struct Reading: Sendable {
        let page: ShelfPage
        let isSure: Bool
    }

    let key: Key
    let followers = Followers()
    private let rereading = Rereading()
    private let catalog: any PageStore & ChangeStore
    private let turnstile: Turnstile
    private let state = Mutex(State())

    /// How many windows are remembered, for who comes back.
    private static let limit = 16
    /// How many versions of a window are.
    private static let versionLimit = 64

    init(_ key: Key, _ catalog: any PageStore & ChangeStore, _ turnstile: Turnstile) {
        self.key = key
        self.catalog = catalog
        self.turnstile = turnstile
    }

    /// Whether it has to be read again, now that the shelf is at a version; nil where the shelf is not there.
    func isOutdated(_ version: ShelfVersion?) -> Bool {
        state.withLock { state in version != state.seen && !(version == nil && state.isGone) }
    }

    // MARK: - Telling

    /// What a follower shows who has a version; nil where that is not sure.
    func window(at version: Int64) -> Window? {
        state.withLock { state in
            let matching = state.windows.filter { $0.versions.contains(version) }
            // The store's settings change what is shown without another version of the shelf.
            return matching.count == 1 ? matching[0] : nil
        }
    }

    /// The way from what a follower shows to what there is.
    ///
    /// - Parameter shown: nil where it shows nothing that is known: it is told the order whole.
    /// - Returns: nil where there is nothing to tell.
    func event(from shown: Window?) -> (event: LiveEvent, shown: Window?)? {
        state.withLock { state in
            if state.isGone { return (.gone(shown?.version ?? 0), nil) }
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
        let reached = ShelfOrder(head: page.head, view: page.plan.view, ids: newest.ids)
        let diff = try? OrderDiff(
            old: shown?.ids ?? [],
            new: newest.ids,
            mode: shown == nil ? .order : .moves,
            reached: reached,
            fromVersion: shown?.version
        )
        guard let diff else { return nil }
        guard let shown else { return LiveEvent(.order, id: newest.version, data: diff.json()) }
        let stamps = Dictionary(zip(shown.ids, shown.stamps)) { a, _ in a }
        let changed = newest.ids.indices.filter { index in
            stamps[newest.ids[index]].map { $0 != newest.stamps[index] } ?? false
        }
        let entering = Set(diff.insertedIDs)
        let whole = diff.with(
            page.products.filter { entering.contains($0.sku.text) },
            changed: changed.map { Int32($0) }
        )
        return LiveEvent(.order, id: newest.version, data: whole.json())
    }

    // MARK: - Reading

    /// Makes sure that it is not behind, so that nobody begins in the past: one look for all who come at the same time,
    /// as they do when a server has sent them away.
    ///
    /// - Throws: `notFound`.
    func start() async throws(CatalogError) {
        let look = state.withLock { state in
            if let look = state.starting { return look }
            let look = Task { await self.look() }
            state.starting = look
            return look
        }
        try await look.value.get()
    }

    private func look() async -> Result<Void, CatalogError> {
        defer { state.withLock { $0.starting = nil } }
        do throws(CatalogError) {
            let version = try await catalog.versions(of: [key.address])[key.address]
            guard version == nil || isOutdated(version) else { return .success(()) }
            let reading = await turnstile.run { () async -> Result<Reading, CatalogError> in
                do throws(CatalogError) { return .success(try await read()) } catch { return .failure(error) }
            }
            keep(try reading.get())
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Reads what is new and wakes who follows, soon.
    func refresh() {
        rereading.run {
            await self.turnstile.run {
                // Where the database is away the next look asks again.
                do { self.keep(try await self.read()) } catch CatalogError.notFound { self.markGone() } catch {}
            }
        }
    }

    /// A page is read in two statements: it is sure where nothing was changed around both.
    private func read() async throws(CatalogError) -> Reading {
        let request = PageRequest(
            store: key.address.store,
            shelf: key.address.shelf,
            sort: key.sort,
            filter: key.filter,
            limit: key.limit
        )
        var attempt = 1
        while true {
            let page = try await catalog.page(request)
            let isSure = try await catalog.versions(of: [key.address])[key.address] == ShelfVersion(page.head)
            if isSure || attempt == 3 { return Reading(page: page, isSure: isSure) }
            attempt += 1
        }
    }

    private func keep(_ reading: Reading) {
        let page = reading.page
        let isNew = state.withLock { state in
            let version = page.head.state.version
            // A read that was overtaken tells nothing new.
            if let seen = state.seen, seen.shelf > version, seen.store >= page.head.storeVersion { return false }
            // What is not sure is read again.
            state.seen = reading.isSure ? ShelfVersion(page.head) : nil
            state.isGone = false
            state.page = page
            let ids = page.products.map(\.sku.text)
            let stamps = page.products.map(\.hashValue)
            if let last = state.windows.last, last.ids == ids, last.stamps == stamps, last.sort == page.plan.sort {
                if reading.isSure, last.versions.count < Self.versionLimit {
                    state.windows[state.windows.count - 1].versions.insert(version)
                }
                return false
            }
            let window = Window(
                number: (state.windows.last?.number ?? 0) + 1,
                version: version,
                versions: reading.isSure ? [version] : [],
                sort: page.plan.sort,
                ids: ids,
                stamps: stamps
            )
            state.windows = state.windows.suffix(Self.limit - 1) + [window]
            state.events = [:]
            return true
        }
        if isNew { followers.wake() }
    }

    private func markGone() {
        state.withLock { state in
            state.isGone = true
            state.seen = nil
        }
        followers.wake()
    }
}
