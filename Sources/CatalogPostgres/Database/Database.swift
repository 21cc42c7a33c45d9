package import Catalog
internal import Collation
package import LibPQ

/// Access to the database: its connection lanes and the services that all stores share.
package final class Database: ReadinessSource {
    /// The lane for reads that may scan a whole shelf, so that they delay neither pages nor writes.
    package let longReads: Lane
    /// The lane for writes, and for short reads of a user's own data.
    package let writes: Lane
    /// The lane for imports, which occupy connections for a long time.
    package let imports: Lane
    /// The lane for re-sorts and housekeeping, so that they delay no user's writes.
    package let batch: Lane
    /// Announces changes to all servers, including this one.
    package let announcer: ChangeAnnouncer
    package let observer: Observer<DatabaseObservation>
    /// Chooses the servers that answer reads, and the forms of statements.
    package let router: ReadRouter
    private let pageLane: PageLane
    private let probe: ReadinessProbe
    /// The ids of stores, by key.
    let storeIDs = StoreIDs()

    /// The number of writes that can wait for a connection.
    private static let waitingWrites = 20_000
    /// The number of long reads that can wait for each connection: as many as it completes in a few seconds.
    static let waitingLongReads = 64

    /// The default time that a write or a long read waits for a connection. A write also waits this long for a lock, and occupies
    /// a connection meanwhile.
    package static let waitLimit: Duration = .seconds(3)

    /// How long batch work waits for a connection. No user waits for batch work.
    private static let batchLeaseTimeout: Duration = .seconds(60)

    /// Creates the lanes; connections are opened on demand.
    ///
    /// - Parameters:
    ///   - direct: the configuration of imports, if `configuration` points to a pooler.
    ///   - replicas: the configurations of standbys that may answer reads.
    ///   - lagLimit: the maximum lag of a replica that is used.
    ///   - connections: the maximum numbers of connections of the lanes.
    ///   - waitLimit: the maximum time that a write or a long read waits for a connection, and that a write waits for a lock.
    ///   - readsWorkers: whether pages are read from the workers of a Citus cluster.
    ///   - announces: whether to notify all servers of changes at once; otherwise, their event streams notice them within a second.
    package init(
        _ configuration: PostgresConfiguration,
        direct: PostgresConfiguration? = nil,
        replicas: [PostgresConfiguration] = [],
        lagLimit: Duration = Replicas.lagLimit,
        connections: ConnectionCounts = ConnectionCounts(),
        waitLimit: Duration = waitLimit,
        readsWorkers: Bool = false,
        announces: Bool = false,
        observer: Observer<DatabaseObservation> = .none
    ) throws {
        let configuration = configuration.naming(StatementRegistry.names)
        let direct = direct?.naming(StatementRegistry.names)
        let workers =
            readsWorkers
            ? StoreWorkers((direct ?? configuration).with(DatabaseSettings.writes), connections, observer) : nil
        longReads = Lane(
            "long_reads",
            configuration.with(DatabaseSettings.longReads),
            connections: connections.longReads,
            waiting: connections.longReads * Self.waitingLongReads,
            leaseTimeout: waitLimit,
            workers: workers,
            observer: observer
        )
        writes = Lane(
            "writes",
            configuration.with(DatabaseSettings.writes).with(["lock_timeout": "\(waitLimit.milliseconds)"]),
            connections: connections.writes,
            waiting: Self.waitingWrites,
            leaseTimeout: waitLimit,
            workers: workers,
            observer: observer
        )
        imports = Lane(
            "imports",
            (direct ?? configuration).with(DatabaseSettings.imports),
            connections: connections.imports,
            waiting: Self.waitingWrites,
            leaseTimeout: waitLimit,
            workers: workers,
            observer: observer
        )
        batch = Lane(
            "batch",
            configuration.with(DatabaseSettings.batch),
            connections: connections.batch,
            waiting: Self.waitingWrites,
            leaseTimeout: Self.batchLeaseTimeout,
            observer: observer
        )
        pageLane = try PageLane(
            configuration.with(DatabaseSettings.pages),
            eventLoops: connections.eventLoops,
            connections: connections.pagesPerEventLoop
        )
        announcer = ChangeAnnouncer(announces ? configuration : nil)
        probe = ReadinessProbe(writes.configuration)
        self.observer = observer
        let replicas =
            replicas.isEmpty
            ? nil
            : try Replicas(
                replicas,
                primary: writes.configuration,
                connections: connections,
                lagLimit: lagLimit,
                observer: observer
            )
        router = ReadRouter(
            PrimaryRead(shortReads: pageLane, longReads: longReads),
            replicas: replicas,
            workers: workers,
            storeIDs: storeIDs
        )
        router.start()
    }

    /// The current use of all lanes.
    package var laneUses: [LaneUse] {
        let pages = LaneUse(
            lane: "pages",
            limit: pageLane.size,
            open: pageLane.size,
            inUse: nil,
            waiting: pageLane.readsInFlight
        )
        return [pages] + [longReads, writes, imports, batch].map(\.use)
    }

    /// Returns the owner of a store's rows; nil if the store's id is not known yet.
    func owner(_ store: CatalogKey) -> DataOwner? { storeIDs[store].map { .store($0) } }

    package func shutDown() {
        longReads.shutDown()
        writes.shutDown()
        imports.shutDown()
        batch.shutDown()
        pageLane.shutDown()
        router.shutDown()
        announcer.shutDown()
        Task { [probe] in await probe.close() }
    }

    /// Returns the current readiness, probed on a separate connection. While the primary does not respond, replicas answer the most
    /// frequent reads.
    package func readiness() async -> Readiness {
        let readiness = await probe.readiness()
        return readiness == .unavailable && router.replacesPrimary ? .readOnly : readiness
    }

    /// Returns the key that all servers of the deployment share.
    package func deploymentKey() async throws(CatalogError) -> [UInt8] {
        try await mappingErrors {
            let key = try await writes.perform(within: .lookup) {
                try $0.query(DatabaseStatements.deploymentKey) {
                    try $0.first { try $0.bytea(0) }
                }
            }
            guard let key else { throw CatalogError.fault("the deployment has no key") }
            return key
        }
    }

    /// Returns a warning if other sort keys than this program's may be stored; nil if none are.
    package func collationWarning() async throws(CatalogError) -> String? {
        try await mappingErrors {
            let stored = try await writes.perform(within: .lookup) { try Recollation.version($0) }
            return stored == LanguageCollator.version
                ? nil : "\(Recollation.warning(stored: stored)); run: \(Recollation.remedy)"
        }
    }

    /// Runs a body and maps its errors to domain errors.
    func mappingErrors<T>(_ body: () async throws -> T) async throws(CatalogError) -> T {
        try await observer.mappingErrors(body)
    }

    /// Runs a transaction that changes a store and announces the change.
    ///
    /// - Parameters:
    ///   - limit: the time limit; exceeds the default only for transactions that rewrite a whole store.
    ///   - changesStore: whether it changes the row of the store, which all workers of a cluster have.
    func write<T: Sendable>(
        to store: CatalogKey,
        within limit: TimeLimit = .edit,
        changesStore: Bool = false,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws(CatalogError) -> T {
        try await mappingErrors {
            let value = try await writes.transaction(within: limit, of: changesStore ? nil : owner(store), body)
            announcer.announce(.store(store))
            return value
        }
    }

    /// Runs a transaction whose end calls functions with the rights of the role that owns the tables.
    ///
    /// On Citus, the end has a transaction of its own: no second role may change rows in a transaction that has changed them.
    ///
    /// - Parameters:
    ///   - owner: the store or user of all rows that the body needs; nil if there are several.
    ///   - endOwner: the same for the end.
    ///   - end: gets the value of the body, and whether it has a transaction of its own. Then it may be missing if the server fails after the
    ///     body, so the end must be repeatable.
    func transaction<T: Sendable>(
        within limit: TimeLimit,
        of owner: DataOwner?,
        thenOf endOwner: DataOwner,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T,
        asTableOwner end: @escaping @Sendable (T, _ isSeparate: Bool, isolated PostgresConnection) throws -> Void
    ) async throws -> T {
        let isSeparate = try await router.isDistributed()
        let value = try await writes.transaction(within: limit, of: owner) { connection in
            let value = try body(connection)
            if !isSeparate { try end(value, false, connection) }
            return value
        }
        if isSeparate {
            try await writes.transaction(within: .bulk, of: endOwner) { try end(value, true, $0) }
        }
        return value
    }

    /// Returns whether Citus is moving a shard.
    func movesShard() async throws -> Bool {
        guard try await router.isDistributed() else { return false }
        return try await batch.perform(within: .lookup) { try Distribution.movesShard($0) }
    }

    /// Retries a change to a user's data if the user was concurrently erased or recreated.
    func retryingErasureConflicts<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        try await attempting(16) {
            do { return try await body() } catch let error as PostgresError
                where error.sqlState == .foreignKeyViolation
                && Self.isErasure(error.constraint)
            { return nil }
        }
    }

    /// Returns whether an erasure may have caused a foreign key violation: of an account or a list. On a shard, a
    /// constraint's name has a suffix.
    private static func isErasure(_ constraint: String?) -> Bool {
        guard let constraint else { return true }
        return constraint.contains("_account_fkey") || constraint.contains("_list_fkey")
    }
}
