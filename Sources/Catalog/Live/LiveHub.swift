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
        /// How many polls pass between two signs of life.
        package var beats = 15
        /// The most who follow at a time.
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
        var followers = 0
        var followersOf: [UserID: Int] = [:]
        var isClosed = false
    }

    let catalog: any CatalogStore
    private let source: (any ChangeSource)?
    let options: Options
    private let state = Mutex(State())

    /// The least time between two reads of the same.
    static let pace: Duration = .milliseconds(50)
    /// How long a feed is kept up that nobody follows, for who comes back.
    private static let idle: Duration = .seconds(60)

    /// - Parameter source: nil where nothing can be heard; the counters tell, a little later.
    package init(_ catalog: any CatalogStore, source: (any ChangeSource)?, options: Options = Options()) {
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
        try enter(user)
        do throws(CatalogError) {
            let current = try await catalog.revisions(of: [user])[user] ?? 0
            let feed = state.withLock { state in
                if let feed = state.users[user] { return feed }
                let feed = UserFeed(user, catalog, revision: current)
                state.users[user] = feed
                return feed
            }
            if feed.revision != current { feed.refresh() }
            return UserChanges(self, feed, since: since, current: current, until: expiry)
        } catch {
            leave(user)
            throw error
        }
    }

    /// The first products of a shelf by a sort, as they change.
    ///
    /// - Parameters:
    ///   - sort: nil for the shelf's own.
    ///   - version: what the follower has.
    /// - Throws: `notFound`; `unavailable` once closed, or where too many follow.
    package func follow(
        _ address: ShelfAddress,
        by sort: Sort?,
        limit: Int,
        since version: Int64?
    ) async throws(CatalogError) -> ShelfChanges {
        let key = ShelfFeed.Key(address: address, sort: sort, limit: limit)
        try enter(nil)
        do throws(CatalogError) {
            let feed = try state.withLock { state -> Result<ShelfFeed, CatalogError> in
                if let feed = state.shelves[key] { return .success(feed) }
                guard state.shelves.count < options.shelves else { return .failure(.unavailable) }
                let feed = ShelfFeed(key, catalog)
                state.shelves[key] = feed
                return .success(feed)
            }.get()
            do throws(CatalogError) { try await feed.start() } catch {
                state.withLock { if $0.shelves[key] === feed { $0.shelves[key] = nil } }
                throw error
            }
            return ShelfChanges(self, feed, since: version)
        } catch {
            leave(nil)
            throw error
        }
    }

    private func enter(_ user: UserID?) throws(CatalogError) {
        let failure: CatalogError? = state.withLock { state in
            if state.isClosed || state.followers >= options.followers { return .unavailable }
            if let user {
                if state.followersOf[user, default: 0] >= options.followersOfUser {
                    return .tooMany("a user may follow with \(options.followersOfUser) devices at a time")
                }
                state.followersOf[user, default: 0] += 1
            }
            state.followers += 1
            return nil
        }
        if let failure { throw failure }
    }

    func leave(_ user: UserID?) {
        state.withLock { state in
            state.followers -= 1
            guard let user else { return }
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
        for feed in users { feed.end() }
        for feed in shelves { feed.end() }
    }

    // MARK: - Looking

    /// Listens and looks until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
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

    private func poll() async {
        var turn = 0
        while (try? await Task.sleep(for: options.poll)) != nil {
            turn += 1
            dropIdle()
            let (users, shelves) = state.withLock { ($0.users.values, $0.shelves.values) }
            for feed in users { feed.beat(turn: turn, of: options.beats) }
            for feed in shelves { feed.beat(turn: turn, of: options.beats) }
            await look(at: nil)
        }
    }

    private func dropIdle() {
        let limit = ContinuousClock.now - Self.idle
        state.withLock { state in
            state.users = state.users.filter { $0.value.idleSince.map { $0 > limit } ?? true }
            state.shelves = state.shelves.filter { $0.value.idleSince.map { $0 > limit } ?? true }
        }
    }

    /// Compares the counters with what was read, and has read again what differs.
    private func look(at topics: Set<ChangeTopic>?) async {
        let topics = topics?.contains(.anything) == true ? nil : topics
        let (users, shelves) = state.withLock { state in
            (
                state.users.values.filter { topics?.contains(.user($0.user)) ?? true },
                state.shelves.values.filter { topics?.contains(.store($0.key.address.store)) ?? true }
            )
        }
        if !users.isEmpty, let revisions = try? await catalog.revisions(of: users.map(\.user)) {
            for feed in users where feed.revision != revisions[feed.user] ?? 0 { feed.refresh() }
        }
        let addresses = Array(Set(shelves.map(\.key.address)))
        if !addresses.isEmpty, let versions = try? await catalog.versions(of: addresses) {
            for feed in shelves where feed.seen != versions[feed.key.address] { feed.refresh() }
        }
    }
}
