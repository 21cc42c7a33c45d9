internal import Catalog
internal import LibPQ
internal import Shelves
internal import Synchronization

/// Brings the shelves in memory to the versions that reads need: a shelf follows its recorded changes, or is read again.
///
/// No notification changes a shelf in memory.
final class ShelfMemory: Sendable {
    /// The number of products up to which a shelf is read like a page: by few short queries, and from the worker that has it.
    private static let smallShelf = 500

    /// Reads from different servers are not shared: one may fail that another can do.
    struct LoadKey: Hashable {
        let table: ShelfCaches.TableKey
        let origin: ReadSource.Origin
    }

    let caches: ShelfCaches
    let indexes: SearchIndexes
    private let database: Database
    private let hits = Atomic(0)
    private let loads = SharedWork<LoadKey, ShelfSnapshot?>()
    private let images = Mutex(ImageQueue())

    init(_ database: Database, _ caches: ShelfCaches) {
        (self.database, self.caches) = (database, caches)
        indexes = SearchIndexes(caches)
    }

    /// The use of the memory, without rendered products.
    var use: ShelfMemoryUse {
        var use = caches.use
        use.hits = hits.load(ordering: .relaxed)
        return use
    }

    /// Returns a shelf in memory at a version; nil if it is not there.
    func known(_ location: ShelfLocation, at version: Int64) -> ShelfSnapshot? {
        guard let known = caches.shelves[location], known.shelf.version == version else { return nil }
        hits.add(1, ordering: .relaxed)
        known.noteUse()
        return known.shelf
    }

    /// Lets the primary answer if the memory is ahead of a replica that has a shelf at a version.
    ///
    /// - Throws: `ReplicaProblem`.
    func requireCommits(of location: ShelfLocation, at version: Int64, _ origin: ReadSource.Origin) throws {
        try origin.requireCommits(if: (caches.shelves[location]?.shelf.version ?? version) > version)
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
        if let known = known(location, at: version) { return known }
        try requireCommits(of: location, at: version, source.origin)
        let load = ShelfLoad(origin: source.origin)
        let isSmall = products <= Self.smallShelf
        let found = try await loads.value(LoadKey(table: .shelf(location), origin: source.origin)) {
            var isDamaged = false
            // A large shelf that is not in memory is read in a transaction.
            if isSmall || self.caches.shelves[location] != nil {
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
        fileprivate let load: ShelfLoad
    }

    private func read(_ following: Following, _ source: ReadSource) async throws -> ShelfReader.Latest {
        try await source.read([following.query], into: ShelfReader.Latest()) { $0 = try ShelfReader.latest($2) }
    }

    /// Returns the query for the changes since the version in memory, to send it with others; nil without such a version. It does not
    /// ask for an image: each of the requests that wait for the same shelf would read it.
    func following(_ location: ShelfLocation, _ source: ReadSource) -> Following? {
        guard caches.shelves[location] != nil else { return nil }
        return following(location, readsImage: false, ShelfLoad(origin: source.origin))
    }

    private func following(_ location: ShelfLocation, readsImage: Bool, _ load: ShelfLoad) -> Following {
        let known = caches.shelves[location]?.shelf
        let query = ShelfReader.latestQuery(after: known, location, readsImage: readsImage)
        return Following(shelf: known, location: location, query: query, load: load)
    }

    /// Keeps the shelf that was read, and returns it; nil if it must be read as a whole.
    func apply(_ latest: ShelfReader.Latest, _ following: Following) async -> ShelfSnapshot? {
        let known = following.shelf
        if latest.image == nil, let known, latest.changes?.version == known.version { return known }
        let found =
            if let known {
                await offLoop(if: known.table.count >= ShelfCaches.offLoopFollowedProducts) {
                    latest.shelf(after: known)
                }
            } else {
                latest.shelf(after: nil)
            }
        guard let found else { return nil }
        keep(found, following.location, following.load)
        return found.shelf
    }

    // MARK: - Images

    /// Removes and returns the next shelf whose image this server should write; nil if there is none.
    func nextImage() -> ImageQueue.Entry? { images.withLock { $0.next(at: .now) } }

    /// Reads a shelf from its image into memory.
    ///
    /// - Returns: false without a usable image.
    func readImage(_ location: ShelfLocation) async throws -> Bool {
        let load = ShelfLoad(origin: .primary)
        let query = ShelfReader.latestQuery(after: nil, location, readsImage: true)
        let found = try await database.longReads.perform(within: .shelf, of: .store(location.storeID)) { connection in
            try connection.query(query.statement, query.parameters) { try ShelfReader.latest($0) }
        }
        guard let shelf = found.shelf(after: nil) else {
            let entry = ImageQueue.Entry(location: location, isDamaged: found.isDamaged)
            images.withLock { $0.insert(entry, at: .now) }
            return false
        }
        keep(shelf, location, load, isUsed: false)
        return true
    }

    /// Returns a shelf in memory that was read as a whole; nil without one.
    func wholeShelf(_ location: ShelfLocation) -> ShelfSnapshot? {
        caches.shelves[location].flatMap { $0.isWhole ? $0.shelf : nil }
    }

    // MARK: - Reads in transactions

    /// Returns a shelf at a version that was read in the same transaction, which only reads.
    ///
    /// - Returns: nil if the shelf has another version by now. On Citus, a transaction may see several versions.
    /// - Throws: `ReplicaProblem`, as `shelf`.
    func load(
        _ location: ShelfLocation,
        at version: Int64,
        _ load: ShelfLoad,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfSnapshot? {
        if let known = known(location, at: version) { return known }
        try requireCommits(of: location, at: version, load.origin)
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
        if let known = caches.shelves[location]?.shelf, known.version == state.version { return known.table }
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
        _ load: ShelfLoad,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfSnapshot? {
        let known = caches.shelves[location]?.shelf
        let (found, isDamaged) = try ShelfReader.read(after: known, location.shelfID, of: location.storeID, connection)
        guard let found else { return nil }
        keep(found, location, load, isDamaged: isDamaged)
        return found.shelf
    }

    /// Keeps a shelf that was read, unless a later version is kept.
    ///
    /// - Parameters:
    ///   - isDamaged: whether its stored image cannot be read.
    ///   - isUsed: whether a request needs it.
    private func keep(
        _ found: ShelfReader.ReadShelf,
        _ location: ShelfLocation,
        _ load: ShelfLoad,
        isDamaged: Bool = false,
        isUsed: Bool = true
    ) {
        images.withLock { $0.noteRead(found, of: location, isDamaged: isDamaged, at: .now) }
        database.observer.observe(.shelfRead(found.kind, .now - load.start))
        if let latest = caches.shelves[location], !latest.isReplaced(by: found.shelf.version, of: load) { return }
        let kept = KeptShelf(found.shelf, isWhole: found.kind == .whole, isUsed: isUsed)
        caches.insert(kept, for: location)
    }
}
