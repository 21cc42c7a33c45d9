internal import Catalog

internal import Synchronization

/// A user's changes, read once for all devices that follow them.
final class UserFeed: Sendable {
    private struct State {
        /// Everything up to here was read.
        var revision: Int64
        /// What is remembered begins behind this one.
        var start: Int64
        var recent: [LiveEvent] = []
        /// How often everything had to be read anew.
        var resets = 0
    }

    enum Answer {
        case events([LiveEvent], upTo: Int64)
        /// It is older than what is remembered.
        case behind
        /// What the follower has is of another life.
        case reset(Int64, resets: Int)
    }

    let user: UserID
    let followers = Followers()
    private let rereading = Rereading()
    private let store: any ChangeStore
    private let state: Mutex<State>

    /// How many changes are remembered, and how many bytes of them.
    private static let limit = 128
    private static let byteLimit = 64 << 10

    init(_ user: UserID, _ store: any ChangeStore, revision: Int64) {
        self.user = user
        self.store = store
        state = Mutex(State(revision: revision, start: revision))
    }

    var revision: Int64 { state.withLock { $0.revision } }

    /// How often everything had to be read anew.
    var resets: Int { state.withLock { $0.resets } }

    /// What is new behind a revision.
    func changes(after position: Int64, resets: Int) -> Answer {
        state.withLock { state in
            if resets != state.resets { return .reset(state.revision, resets: state.resets) }
            if position >= state.revision { return .events([], upTo: position) }
            if position < state.start { return .behind }
            return .events(state.recent.filter { $0.id > position }, upTo: state.revision)
        }
    }

    /// Reads what is new and wakes who follows, soon.
    func refresh() { rereading.run { await self.read() } }

    private func read() async {
        while true {
            let known = revision
            // Where the database is away the next tick asks again.
            guard let page = try? await store.changes(of: user, since: known, limit: Self.limit) else { return }
            if page.isResync {
                guard let revisions = try? await store.revisions(of: [user]) else { return }
                return reset(to: revisions[user] ?? 0)
            }
            add(page)
            if page.events.count < Self.limit { return }
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
        followers.wake()
    }

    private func reset(to revision: Int64) {
        state.withLock { state in
            state.resets += 1
            state.recent = []
            state.revision = revision
            state.start = revision
        }
        followers.wake()
    }
}
