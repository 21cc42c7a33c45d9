package import Catalog
internal import CatalogJSON
internal import Synchronization

/// Delivers changes of users and shelves to subscribers, whichever server made them.
///
/// The database's counters are authoritative: a user's revision and a shelf's version, each set under a row lock. A
/// notification only says which ones to check now; all are also checked every second. So a lost notification,
/// for example from a crashed server, delays a change by up to a second but never loses it.
package final class LiveHub: Sendable {
    package struct Options: Sendable {
        /// The polling interval of the counters.
        package var poll: Duration = .seconds(1)
        /// The maximum time without output; then a heartbeat is sent.
        package var heartbeat: Duration = .seconds(15)
        /// The maximum number of concurrent user subscriptions, and of shelf subscriptions.
        package var subscriptionLimit = 10_000
        /// The maximum number of concurrent subscriptions per user.
        package var subscriptionsPerUserLimit = 64
        /// The maximum number of concurrent shelf feeds, one per shelf, sort, filter, search, choice of products and cards, and limit.
        package var shelfFeedLimit = 2000
        /// How long a feed without subscribers is kept for reconnects.
        package var idleTimeout: Duration = .seconds(60)
        package var observer = Observer<FeedObservation>.none

        package init() {}
    }

    private struct State {
        var users: [UserID: UserFeed] = [:]
        var shelves: [ShelfFeed.Key: ShelfFeed] = [:]
        var isClosed = false
    }

    let versions: any VersionStore
    private let pages: any PageStore
    private let source: (any ChangeSource)?
    let options: Options
    private let userSubscriptions: LimitedResource
    private let shelfSubscriptions: LimitedResource
    private let state = Mutex(State())
    /// Limits concurrent feed reads, so that page requests are not delayed.
    private let readLimiter = AsyncSemaphore(8)

    /// The minimum time between two reads of one feed.
    static let minimumReadInterval: Duration = .milliseconds(50)
    /// The number of subscriber groups, so that not all write at once.
    private static let subscriberGroups = 3

    /// - Parameter source: the source of notifications; nil to rely on polling alone.
    package init(
        pages: any PageStore,
        versions: any VersionStore,
        source: (any ChangeSource)?,
        options: Options = Options()
    ) {
        self.pages = pages
        self.versions = versions
        self.source = source
        self.options = options
        userSubscriptions = LimitedResource(
            total: options.subscriptionLimit,
            perClient: options.subscriptionsPerUserLimit,
            refusal: "a user can have at most \(options.subscriptionsPerUserLimit) event streams; close unused ones"
        )
        shelfSubscriptions = LimitedResource(total: options.subscriptionLimit)
    }

    // MARK: - Subscribing

    /// Subscribes to a user's changes.
    ///
    /// - Throws: `unavailable` if closed or at the subscription limit; `tooMany` at this user's limit.
    package func subscribe(
        _ user: UserID,
        from start: SubscriptionStart,
        until expiry: Timestamp? = nil
    ) async throws(CatalogError) -> UserSubscription {
        let current = try await versions.revisions(of: [user])[user] ?? 0
        guard !isClosed else { throw .unavailable }
        let permit = try userSubscriptions.permit(for: .user(user))
        // Find the feed and join it in one step; otherwise the hub may close or drop the feed in between.
        let joined = state.withLock { state -> UserSubscription? in
            guard !state.isClosed else { return nil }
            let feed = state.users[user] ?? UserFeed(user, versions, revision: current, options.observer)
            state.users[user] = feed
            if feed.revision != current { feed.refresh() }
            return UserSubscription(self, feed, permit, from: start, current: current, until: expiry)
        }
        guard let joined else { throw .unavailable }
        return joined
    }

    /// Checks whether a user may subscribe now.
    ///
    /// - Parameter user: nil if the user is not known yet.
    /// - Throws: as `subscribe`.
    package func checkLimits(for user: UserID?) throws(CatalogError) {
        guard !isClosed else { throw .unavailable }
        try userSubscriptions.check(for: user.map { .user($0) })
    }

    /// Subscribes to changes of a shelf's first products.
    ///
    /// - Parameters:
    ///   - sort: the sort; nil for the shelf's own.
    ///   - filter: the filter; nil for all products.
    ///   - search: the search; nil for all products. Each event has the classes in use of its version.
    ///   - includesDescendants: whether the products of the shelves below are shown, too; nil for what the shelf says.
    ///   - collapsesGroups: whether each group of products has one card; nil for what the shelf says.
    ///   - start: where to start; a version must have been read with the same sort, filter, limit, descendants and groups. With a search, only
    ///     the id of an event is known.
    ///   - includesProducts: whether an event with the whole window has the products, too.
    /// - Throws: `notFound`; `unavailable` if closed or at the subscription limit.
    package func subscribe(
        _ address: ShelfAddress,
        by sort: Sort?,
        filter: Filter? = nil,
        search: SearchText? = nil,
        includesDescendants: Bool? = nil,
        collapsesGroups: Bool? = nil,
        limit: Int,
        from start: SubscriptionStart,
        includesProducts: Bool = false
    ) async throws(CatalogError) -> ShelfSubscription {
        let key = ShelfFeed.Key(
            address: address,
            sort: sort,
            filter: filter,
            search: search,
            includesDescendants: includesDescendants,
            collapsesGroups: collapsesGroups,
            limit: limit
        )
        let permit = try shelfSubscriptions.permit()
        let joined = state.withLock { state -> (ShelfFeed, ShelfSubscription)? in
            guard !state.isClosed else { return nil }
            if state.shelves[key] == nil, state.shelves.count >= options.shelfFeedLimit {
                // Evict feeds without subscribers.
                state.shelves = state.shelves.filter { $0.value.subscribers.idleSince == nil }
                if state.shelves.count >= options.shelfFeedLimit { return nil }
            }
            let feed = state.shelves[key] ?? ShelfFeed(key, pages, versions, readLimiter, options.observer)
            state.shelves[key] = feed
            return (feed, ShelfSubscription(feed, permit, heartbeat: idleInterval, includesProducts))
        }
        guard let (feed, subscription) = joined else { throw .unavailable }
        try await feed.start()
        if case .after(let version) = start { await subscription.begin(at: version) }
        return subscription
    }

    /// Returns whether a stream without a sort shows the products of several shelves.
    ///
    /// - Throws: `notFound`.
    package func showsUnion(_ address: ShelfAddress, _ includesDescendants: Bool?) async throws(CatalogError) -> Bool {
        var request = PageRequest(store: address.store, shelf: address.shelf)
        request.includesDescendants = includesDescendants
        return if case .union = try await pages.read(request, unless: { _ in true }) { true } else { false }
    }

    /// Returns whether a shelf exists; true if the database cannot be reached.
    package func exists(_ address: ShelfAddress) async -> Bool {
        guard let found = try? await versions.versions(of: [address]), let version = found[address] else { return true }
        return version != nil
    }

    /// The numbers of subscriptions and feeds.
    package struct Use: Sendable, Hashable {
        package var kind: FeedKind
        package var subscriptions: Int
        package var feeds: Int
    }

    /// The current use by kind.
    package var uses: [Use] {
        state.withLock { state in
            [
                Use(kind: .shelf, subscriptions: shelfSubscriptions.amount, feeds: state.shelves.count),
                Use(kind: .user, subscriptions: userSubscriptions.amount, feeds: state.users.count),
            ]
        }
    }

    /// Whether the hub is closed: clients should reconnect, possibly to another server.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Ends all subscriptions and rejects new ones.
    package func close() {
        let (users, shelves) = state.withLock { state in
            state.isClosed = true
            return (state.users.values, state.shelves.values)
        }
        for feed in users { feed.subscribers.end() }
        for feed in shelves { feed.subscribers.end() }
    }

    // MARK: - Polling

    /// Listens and polls until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.sendHeartbeats() }
            group.addTask { await self.poll() }
            // Without notifications, polling detects changes.
            guard let notices = try? source?.notices() else { return }
            group.addTask {
                for await notice in notices {
                    switch notice {
                    case .gap: await self.checkCounters(at: nil)
                    case .changed(let topics): await self.checkCounters(at: topics)
                    }
                }
            }
        }
    }

    /// Heartbeats are independent of polling, so that they continue while the database hangs.
    private func sendHeartbeats() async {
        var turn = 0
        while (try? await Task.sleep(for: options.poll)) != nil {
            turn += 1
            dropIdle()
            let (users, shelves) = state.withLock { ($0.users.values, $0.shelves.values) }
            for feed in users { feed.subscribers.wake(turn: turn, of: Self.subscriberGroups) }
            for feed in shelves { feed.subscribers.wake(turn: turn, of: Self.subscriberGroups) }
        }
    }

    /// The time without output after which a subscription sends a heartbeat at its next wake-up.
    var idleInterval: Duration { options.heartbeat - options.poll * (Self.subscriberGroups + 1) }

    private func poll() async {
        while (try? await Task.sleep(for: options.poll)) != nil { await checkCounters(at: nil) }
    }

    private func dropIdle() {
        let limit = ContinuousClock.now - options.idleTimeout
        state.withLock { state in
            state.users = state.users.filter { $0.value.subscribers.idleSince.map { $0 > limit } ?? true }
            state.shelves = state.shelves.filter { $0.value.subscribers.idleSince.map { $0 > limit } ?? true }
        }
    }

    /// Compares the counters with the feeds and refreshes outdated feeds with subscribers.
    private func checkCounters(at topics: Set<ChangeTopic>?) async {
        let topics = topics?.contains(.all) == true ? nil : topics
        let (users, shelves) = state.withLock { state in
            (
                state.users.values.filter {
                    topics?.contains(.user($0.user)) ?? true && $0.subscribers.idleSince == nil
                },
                state.shelves.values.filter {
                    topics?.contains(.store($0.key.address.store)) ?? true && $0.subscribers.idleSince == nil
                }
            )
        }
        if !users.isEmpty, let revisions = try? await versions.revisions(of: users.map(\.user)) {
            for feed in users where revisions[feed.user].map({ feed.revision != $0 }) ?? false { feed.refresh() }
        }
        // They are not awaited, because a worker that does not respond would delay all others.
        for feed in shelves where feed.showsUnion { feed.refreshIfOutdated() }
        let single = shelves.filter { !$0.showsUnion }
        let addresses = Array(Set(single.map(\.key.address)))
        if !addresses.isEmpty, let current = try? await versions.versions(of: addresses) {
            for feed in single where current[feed.key.address].map({ feed.isOutdated($0) }) ?? false {
                feed.refresh()
            }
        }
    }
}

/// A kind of live feed.
package enum FeedKind: String, Sendable, CaseIterable {
    case shelf, user
}

/// An event of a feed for metrics.
package enum FeedObservation: Sendable, Equatable {
    /// The events of a change are ready for the subscribers of a feed.
    ///
    /// - Parameter delay: the time since the server noticed the change.
    case feedUpdated(FeedKind, delay: Duration)
}
