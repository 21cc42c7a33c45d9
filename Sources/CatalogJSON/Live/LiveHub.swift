package import Catalog

internal import Synchronization

/// Tells followers of users and shelves what changes, whoever changed it.
///
/// The truth is the database's counters, a user's revision and a shelf's version, each taken under its row's lock: a
/// notice only says which to look at now, and all that are followed are looked at every second. So a notice that is lost,
/// from a server that died or through a pool of connections that carries none, costs a second and no change.
package final class LiveHub: Sendable {
    package struct Options: Sendable {
        /// How often the counters are looked at, whatever is heard.
        package var poll: Duration = .seconds(1)
        /// The longest silence; then follows a sign of life.
        package var heartbeat: Duration = .seconds(15)
        /// The most who follow users at a time, and the most who follow shelves.
        package var followers = 10_000
        /// The most who follow one user at a time.
        package var followersOfUser = 64
        /// The most shelves, sorts and limits that are followed at a time.
        package var shelves = 2000

        package init() {}
    }

    private struct State {
        var users: [UserID: UserFeed] = [:]
        var shelves: [ShelfFeed.Key: ShelfFeed] = [:]
        var userFollowers = 0
        var shelfFollowers = 0
        var followersOf: [UserID: Int] = [:]
        var isClosed = false
    }

    let catalog: any PageStore & ChangeStore
    private let source: (any ChangeSource)?
    let options: Options
    private let state = Mutex(State())
    /// Feeds do not read all at once: pages are for who asks for them.
    private let turnstile = Turnstile(8)

    /// The least time between two reads of the same.
    static let pace: Duration = .milliseconds(50)
    /// How long a feed is kept that nobody follows, for who comes back.
    private static let idle: Duration = .seconds(60)
    /// Into how many parts followers are divided, so that not all write at once.
    private static let turns = 3

    /// - Parameter source: nil where nothing can be heard; the counters tell, a little later.
    package init(_ catalog: any PageStore & ChangeStore, source: (any ChangeSource)?, options: Options = Options()) {
        self.catalog = catalog
        self.source = source
        self.options = options
    }

    // MARK: - Following

    /// A user's changes behind a revision, or from now on.
    ///
    /// - Throws: `unavailable` once closed, or where too many follow; `tooMany` where too many follow this user.
    package func follow(
        _ user: UserID,
        since: Int64?,
        until expiry: Timestamp? = nil
    ) async throws(CatalogError) -> UserChanges {
        let current = try await catalog.revisions(of: [user])[user] ?? 0
        // To enter, to find the feed and to join it is one step: between them a hub may close, or an idle feed be dropped.
        let joined = state.withLock { state -> Result<UserChanges, CatalogError> in
            if let failure = refusal(user, state) { return .failure(failure) }
            state.userFollowers += 1
            state.followersOf[user, default: 0] += 1
            let feed = state.users[user] ?? UserFeed(user, catalog, revision: current)
            state.users[user] = feed
            if feed.revision != current { feed.refresh() }
            return .success(UserChanges(self, feed, since: since, current: current, until: expiry))
        }
        return try joined.get()
    }

    /// Whether a user may follow now.
    ///
    /// - Throws: as `follow`.
    package func check(_ user: UserID?) throws(CatalogError) {
        if let failure = state.withLock({ refusal(user, $0) }) { throw failure }
    }

    private func refusal(_ user: UserID?, _ state: borrowing State) -> CatalogError? {
        if state.isClosed || state.userFollowers >= options.followers { return .unavailable }
        guard let user, state.followersOf[user, default: 0] >= options.followersOfUser else { return nil }
        return .tooMany("a user may follow with \(options.followersOfUser) devices at a time")
    }

    /// The first products of a shelf by a sort, as they change.
    ///
    /// - Parameters:
    ///   - sort: nil for the shelf's own.
    ///   - filter: what of the shelf is shown; nil for all.
    ///   - version: at which the follower has them, by the same sort and limit.
    /// - Throws: `notFound`; `unavailable` once closed, or where too many follow.
    package func follow(
        _ address: ShelfAddress,
        by sort: Sort?,
        filter: Filter? = nil,
        limit: Int,
        since version: Int64?
    ) async throws(CatalogError) -> ShelfChanges {
        let key = ShelfFeed.Key(address: address, sort: sort, filter: filter, limit: limit)
        let joined = state.withLock { state -> Result<(ShelfFeed, ShelfChanges), CatalogError> in
            if state.isClosed || state.shelfFollowers >= options.followers { return .failure(.unavailable) }
            if state.shelves[key] == nil, state.shelves.count >= options.shelves {
                // What nobody follows makes room.
                state.shelves = state.shelves.filter { $0.value.followers.idleSince == nil }
                if state.shelves.count >= options.shelves { return .failure(.unavailable) }
            }
            state.shelfFollowers += 1
            let feed = state.shelves[key] ?? ShelfFeed(key, catalog, turnstile)
            state.shelves[key] = feed
            return .success((feed, ShelfChanges(self, feed)))
        }
        let (feed, changes) = try joined.get()
        try await feed.start()
        if let version { await changes.begin(at: version) }
        return changes
    }

    func leave(_ user: UserID?) {
        state.withLock { state in
            guard let user else {
                state.shelfFollowers -= 1
                return
            }
            state.userFollowers -= 1
            state.followersOf[user, default: 1] -= 1
            if state.followersOf[user] == 0 { state.followersOf[user] = nil }
        }
    }

    /// Whether it was closed: who followed is to come back, to another server perhaps.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends all that follow; nobody can follow any more.
    package func close() {
        let (users, shelves) = state.withLock { state in
            state.isClosed = true
            return (state.users.values, state.shelves.values)
        }
        for feed in users { feed.followers.end() }
        for feed in shelves { feed.followers.end() }
    }

    // MARK: - Looking

    /// Listens and looks until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.beat() }
            group.addTask { await self.poll() }
            // Without notices the polls tell.
            guard let notices = try? source?.notices() else { return }
            group.addTask {
                for await notice in notices {
                    switch notice {
                    case .gap: await self.look(at: nil)
                    case .changed(let topics): await self.look(at: topics)
                    }
                }
            }
        }
    }

    /// Apart from the looks: signs of life come also while the database hangs.
    private func beat() async {
        var turn = 0
        while (try? await Task.sleep(for: options.poll)) != nil {
            turn += 1
            dropIdle()
            let (users, shelves) = state.withLock { ($0.users.values, $0.shelves.values) }
            for feed in users { feed.followers.wake(turn: turn, of: Self.turns) }
            for feed in shelves { feed.followers.wake(turn: turn, of: Self.turns) }
        }
    }

    /// After how long without a word a follower, who is woken every few beats, is to give a sign of life.
    var silence: Duration { options.heartbeat - options.poll * (Self.turns + 1) }

    private func poll() async {
        while (try? await Task.sleep(for: options.poll)) != nil { await look(at: nil) }
    }

    private func dropIdle() {
        let limit = ContinuousClock.now - Self.idle
        state.withLock { state in
            state.users = state.users.filter { $0.value.followers.idleSince.map { $0 > limit } ?? true }
            state.shelves = state.shelves.filter { $0.value.followers.idleSince.map { $0 > limit } ?? true }
        }
    }

    /// Compares the counters with what was read, and has read again what differs and is followed.
    private func look(at topics: Set<ChangeTopic>?) async {
        let topics = topics?.contains(.anything) == true ? nil : topics
        let (users, shelves) = state.withLock { state in
            (
                state.users.values.filter { topics?.contains(.user($0.user)) ?? true && $0.followers.idleSince == nil },
                state.shelves.values.filter {
                    topics?.contains(.store($0.key.address.store)) ?? true && $0.followers.idleSince == nil
                }
            )
        }
        if !users.isEmpty, let revisions = try? await catalog.revisions(of: users.map(\.user)) {
            for feed in users where feed.revision != revisions[feed.user] ?? 0 { feed.refresh() }
        }
        let addresses = Array(Set(shelves.map(\.key.address)))
        if !addresses.isEmpty, let versions = try? await catalog.versions(of: addresses) {
            for feed in shelves where feed.isOutdated(versions[feed.key.address]) { feed.refresh() }
        }
    }
}
