internal import Catalog
internal import Synchronization

/// A user's changes, read once for all subscribed devices.
final class UserFeed: Sendable {
    private struct State {
        /// The last revision that was read.
        var revision: Int64
        /// The revision after which changes are cached.
        var start: Int64
        var recent: [LiveEvent] = []
        /// The number of resyncs.
        var resets = 0
    }

    enum Changes {
        case events([LiveEvent], upTo: Int64)
        /// The position is older than the cached changes.
        case tooOld
        /// The subscriber's revision belongs to an erased account.
        case reset(Int64, resets: Int)
    }

    let user: UserID
    let subscribers = Subscribers()
    private let readCoalescer = ReadCoalescer()
    private let store: any VersionStore
    private let observer: Observer<FeedObservation>
    private let state: Mutex<State>

    /// The maximum number of cached changes, and their maximum size in bytes.
    private static let limit = 128
    private static let byteLimit = 64 << 10

    init(_ user: UserID, _ store: any VersionStore, revision: Int64, _ observer: Observer<FeedObservation> = .none) {
        self.user = user
        self.store = store
        self.observer = observer
        state = Mutex(State(revision: revision, start: revision))
    }

    var revision: Int64 { state.withLock { $0.revision } }

    /// The number of resyncs.
    var resets: Int { state.withLock { $0.resets } }

    /// Returns the changes after a revision.
    func changes(after position: Int64, resets: Int) -> Changes {
        state.withLock { state in
            if resets != state.resets { return .reset(state.revision, resets: state.resets) }
            if position >= state.revision { return .events([], upTo: position) }
            if position < state.start { return .tooOld }
            return .events(state.recent.filter { $0.id > position }, upTo: state.revision)
        }
    }

    /// Schedules a read, which wakes the subscribers.
    func refresh() {
        let noticed = ContinuousClock.now
        readCoalescer.run {
            guard await self.read() else { return }
            self.observer.observe(.feedUpdated(.user, delay: ContinuousClock.now - noticed))
        }
    }

    /// Returns whether the feed is up to date. If the database is unreachable, the next poll tries again.
    private func read() async -> Bool {
        while true {
            let known = revision
            guard let page = try? await store.changes(of: user, since: known, limit: Self.limit) else { return false }
            if page.isResync {
                guard let revisions = try? await store.revisions(of: [user]) else { return false }
                reset(to: revisions[user] ?? 0)
                return true
            }
            add(page)
            if page.events.count < Self.limit { return true }
        }
    }

    private func add(_ page: ChangesPage) {
        state.withLock { state in
            state.recent += page.events
            state.revision = page.revision
            var (surplus, bytes) = (0, state.recent.reduce(0) { $0 + $1.data.count })
            while state.recent.count - surplus > Self.limit || bytes > Self.byteLimit {
                bytes -= state.recent[surplus].data.count
                surplus += 1
            }
            if surplus > 0 {
                state.start = state.recent[surplus - 1].id
                state.recent.removeFirst(surplus)
            }
        }
        subscribers.wake()
    }

    private func reset(to revision: Int64) {
        state.withLock { state in
            state.resets += 1
            state.recent = []
            state.revision = revision
            state.start = revision
        }
        subscribers.wake()
    }
}
