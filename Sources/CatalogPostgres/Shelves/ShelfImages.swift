package import Catalog
internal import LibPQ
internal import Shelves
internal import Synchronization

/// The stored images of shelves, from which servers read the shelves that they do not have in memory.
///
/// Writers of products do not maintain them: a server that missed an image stores it later. Only imports, after which all servers read many
/// shelves at once, store images.
package struct ShelfImages: Sendable {
    /// The number of products after which `write` stops, so that images take a small part of the database's time.
    private static let productsAtOnce = 10_000
    /// The number of products of the largest shelf that has an image. Larger ones are read as a whole.
    private static let largestShelf = 200_000
    /// The size of the largest image, in bytes.
    private static let largest = 128 << 20
    /// The number of shelves that a starting server reads at most.
    private static let shelvesAtStart: Int64 = 20_000
    /// The number of shelves that a starting server reads at once.
    private static let readsAtOnce = 2
    /// The precision of the time at which an image was used, in microseconds.
    private static let usePrecision: Int64 = 3_600_000_000
    /// The number of products in the images that one transaction stores.
    private static let productsPerTransaction = 20_000
    /// The number of images that one transaction stores.
    private static let shelvesPerTransaction = 500
    /// How recently an image must have been used for a transaction to replace it, in microseconds.
    private static let useInterval: Int64 = 86_400_000_000
    /// How long images are kept that nobody uses, in microseconds.
    private static let lifetime: Int64 = 30 * 86_400_000_000

    private let database: Database
    private let memory: ShelfMemory

    package init(_ catalog: PostgresCatalog) { (database, memory) = (catalog.database, catalog.pageStore.memory) }

    /// Stores images that this server missed, if other servers have not.
    ///
    /// - Returns: their number; 0 if none waits.
    package func write(at now: Timestamp = .now()) async throws(CatalogError) -> Int {
        var (images, products) = (0, 0)
        while products < Self.productsAtOnce, let entry = memory.nextImage() {
            guard let count = try await write(entry, at: now) else { continue }
            images += 1
            products += count
        }
        return images
    }

    /// Stores the image of a shelf.
    ///
    /// - Returns: the number of its products; nil if it is not stored.
    func write(_ entry: ImageQueue.Entry, at now: Timestamp) async throws(CatalogError) -> Int? {
        try await database.mappingErrors {
            let location = entry.location
            let values: [PostgresValue] = [
                .int4(location.storeID), .int4(location.shelfID), .int8(ShelfReader.imageFormat),
                .int8(entry.tolerance),
            ]
            let state = try await database.batch.perform(within: .lookup) { connection in
                try connection.query(ShelfImageStatements.state, values) {
                    try $0.first { (version: try $0.int8(0), count: Int(try $0.int4(1)), hasImage: try $0.bool(2)) }
                }
            }
            guard let state, entry.isDamaged || !state.hasImage, state.count <= Self.largestShelf else { return nil }
            // An image of an earlier version may be of no use.
            var shelf = memory.wholeShelf(location)
            if shelf?.version != state.version {
                shelf = try await database.longReads.snapshot(within: .shelf, of: .store(location.storeID)) {
                    try ShelfReader.readWhole(location.shelfID, of: location.storeID, $0)
                }
            }
            guard let shelf, let image = Self.parameters(shelf, location, usedAt: now) else { return nil }
            let count = try await database.batch.perform(within: .edit) {
                try $0.execute(ShelfImageStatements.write, image)
            }
            if count > 0 { database.observer.observe(.shelfImageWritten) }
            return shelf.table.count
        }
    }

    /// Returns the parameters of the statement that stores an image; nil if it is too large.
    private static func parameters(
        _ shelf: ShelfSnapshot,
        _ location: ShelfLocation,
        usedAt time: Timestamp
    ) -> [PostgresValue]? {
        let bytes = ShelfImage(shelf.table).bytes
        guard bytes.count <= largest else { return nil }
        return [
            .int4(location.storeID), .int4(location.shelfID), .int8(shelf.version), .int8(ShelfReader.imageFormat),
            .timestamptz(time.microseconds), .bytea(bytes),
        ]
    }

    /// Stores images of shelves whose changes are not recorded, because a transaction changed too many products. Servers must have used
    /// the last image within a day. All servers read these shelves right after the commit, and an image costs a tenth of the rows. Because
    /// the shelves are locked meanwhile, the function stops after some products. Servers store the other images.
    static func store(
        changed shelves: [Int32],
        of storeID: Int32,
        at now: Timestamp = .now(),
        _ connection: isolated PostgresConnection
    ) throws {
        let found: [(shelf: Int32, products: Int, usedAt: Timestamp)] = try connection.query(
            ShelfImageStatements.unrecorded,
            [
                .int4(storeID), .int8Array(shelves.map(Int64.init)), .int8(ShelfReader.imageFormat),
                .timestamptz(now.microseconds - useInterval),
            ]
        ) {
            try $0.map { (try $0.int4(0), Int(try $0.int4(1)), Timestamp(microseconds: try $0.timestamptz(2))) }
        }
        var (products, chosen) = (0, [(shelf: Int32, usedAt: Timestamp)]())
        for (shelf, count, usedAt) in found where products + count <= productsPerTransaction {
            products += count
            chosen.append((shelf, usedAt))
        }
        for (shelf, usedAt) in chosen.prefix(shelvesPerTransaction) {
            let location = ShelfLocation(storeID: storeID, shelfID: shelf)
            do {
                guard let read = try ShelfReader.readWhole(shelf, of: storeID, connection),
                    let parameters = parameters(read, location, usedAt: usedAt)
                else { continue }
                try connection.executeDeferred(ShelfImageStatements.write, parameters)
            } catch let error as PostgresError where error.kind == .decoding {
                // The transaction does not need the image of a shelf that cannot be read.
                continue
            }
        }
    }

    /// Records the shelves that this server has used since the last call. Starting servers read these shelves.
    package func markUsed(at now: Timestamp = .now()) async throws(CatalogError) {
        for (store, locations) in Dictionary(grouping: memory.caches.takeUsed(), by: \.storeID).sorted(by: {
            $0.key < $1.key
        }) {
            let values: [PostgresValue] = [
                .int4(store), .int8Array(locations.map { Int64($0.shelfID) }), .timestamptz(now.microseconds),
                .timestamptz(now.microseconds - Self.usePrecision),
            ]
            _ = try await database.mappingErrors {
                try await database.batch.perform(within: .edit) { try $0.execute(ShelfImageStatements.use, values) }
            }
        }
    }

    /// Forgets which shelves this server has used since the last call of `markUsed`: a starting server reads them for itself.
    package func forgetUse() { _ = memory.caches.takeUsed() }

    /// Deletes images that nobody used for 30 days; returns their number.
    package func deleteUnused(at now: Timestamp = .now()) async throws(CatalogError) -> Int {
        let limit = PostgresValue.timestamptz(now.microseconds - Self.lifetime)
        return try await database.mappingErrors {
            try await database.batch.perform(within: .edit) {
                try $0.execute(ShelfImageStatements.deleteUnused, [limit])
            }
        }
    }

    /// Reads the shelves that servers used last into memory, until half of the memory for shelves is full.
    ///
    /// - Parameter limit: the time after which it stops.
    /// - Returns: the shelves, about in the order of their last use, latest first.
    package func readLastUsed(within limit: Duration) async throws(CatalogError) -> [ShelfAddress] {
        let read = ReadShelves()
        try await database.mappingErrors {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await readLastUsed(until: .now + limit, into: read) }
                group.addTask { try await Task.sleep(for: limit) }
                defer { group.cancelAll() }
                // At the limit, reads in progress are cancelled.
                try await group.next()
            }
        }
        return read.all
    }

    /// The shelves that were read so far, and the errors of the others.
    private final class ReadShelves: Sendable {
        private let state = Mutex<(shelves: [ShelfAddress], errors: [any Error])>(([], []))
        var all: [ShelfAddress] { state.withLock { $0.shelves } }
        var errors: [any Error] { state.withLock { $0.errors } }

        func append(_ shelf: ShelfAddress) { state.withLock { $0.shelves.append(shelf) } }
        func append(_ error: any Error) { state.withLock { $0.errors.append(error) } }
    }

    /// The number of shelves that cannot be read after which a starting server reads no more.
    private static let errorLimit = 16

    private func readLastUsed(until deadline: ContinuousClock.Instant, into read: ReadShelves) async throws {
        let shelves = try await database.longReads.perform(within: .shelf) { connection in
            let parameters: [PostgresValue] = [.int8(ShelfReader.imageFormat), .int8(Self.shelvesAtStart)]
            return try connection.query(ShelfImageStatements.lastUsed, parameters) {
                try $0.map { row in
                    guard let store = CatalogKey(try row.text(2)), let shelf = CatalogKey(try row.text(3)) else {
                        throw PostgresError(.decoding, "invalid stored key")
                    }
                    let location = ShelfLocation(storeID: try row.int4(0), shelfID: try row.int4(1))
                    return (location: location, address: ShelfAddress(store, shelf))
                }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            var rest = shelves[...]
            func readNext() {
                guard ContinuousClock.now < deadline, !Task.isCancelled, memory.caches.isHalfEmpty,
                    read.errors.count < Self.errorLimit, let next = rest.popFirst()
                else { return }
                // One shelf that cannot be read does not matter to the others.
                group.addTask {
                    do {
                        if try await memory.readImage(next.location) { read.append(next.address) }
                    } catch { read.append(error) }
                }
            }
            for _ in 0..<Self.readsAtOnce { readNext() }
            for await _ in group { readNext() }
        }
        if read.all.isEmpty, let error = read.errors.first { throw error }
    }
}
