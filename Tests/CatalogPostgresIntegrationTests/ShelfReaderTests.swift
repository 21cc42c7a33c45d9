import Catalog
import CatalogJSON
import LibPQ
import Ordering
import Shelves
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Shelves in memory: a shelf that follows the recorded changes equals the shelf after a full read.
@Suite(.timeLimit(.minutes(15))) struct ShelfReaderTests {
    private static func withWrites(
        seed: Int,
        _ body: (PostgresCatalog, inout ShelfWrites) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var writes = ShelfWrites(catalog, seed: seed)
            try await writes.prepare()
            try await body(catalog, &writes)
        }
    }

    /// One state of a shelf, read in three ways.
    private struct Reading {
        let whole: ShelfSnapshot
        /// The earlier snapshot with its changes; nil if it must be read as a whole.
        let followed: ShelfSnapshot?
        /// The image with the changes since; nil if it must be read as a whole.
        let image: ShelfSnapshot?
        /// Whether products changed since the image.
        let isChangedImage: Bool
        let products: [Product]

        /// Whether all are of one version, with the same products.
        var agrees: Bool {
            let (expected, others) = (rows(whole), [followed, image].compactMap { $0 })
            guard others.allSatisfy({ $0.version == whole.version && rows($0) == expected }) else { return false }
            // Equal rows are of equal products.
            return products.allSatisfy { product in
                let row = whole.table.rows(of: [product.sku])[product.sku]
                return row.flatMap(whole.table.product) == product
                    && others.allSatisfy { $0.table.rows(of: [product.sku])[product.sku] == row }
            }
        }

        private func rows(_ snapshot: ShelfSnapshot) -> [TableRow] {
            (0..<snapshot.table.count).map(snapshot.table.values)
        }
    }

    /// Reads a shelf in three ways from one state of the database.
    private static func read(
        _ shelf: Int32,
        following snapshot: ShelfSnapshot?,
        _ catalog: PostgresCatalog
    ) async throws -> Reading {
        return try await catalog.database.longReads.snapshot(within: .shelf) { connection in
            let image = try Self.latest(after: nil, shelf, connection)
            return Reading(
                whole: try ShelfReader.readWhole(shelf, of: 1, connection)!,
                followed: try snapshot.flatMap { try Self.latest(after: $0, shelf, connection)?.shelf },
                image: image?.shelf,
                isChangedImage: (image?.changeCount ?? 0) > 0,
                products: try Self.products(shelf, connection)
            )
        }
    }

    /// Reads what changed on a shelf, or its image if it is not known.
    private static func latest(
        after known: ShelfSnapshot?,
        _ shelf: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfReader.ReadShelf? {
        let location = ShelfLocation(storeID: 1, shelfID: shelf)
        let query = ShelfReader.latestQuery(after: known, location, readsImage: known == nil)
        return try connection.query(query.statement, query.parameters) { try ShelfReader.latest($0) }.shelf(
            after: known
        )
    }

    /// Reads the products of a shelf, with their scores on it, from their rows.
    private static func products(_ shelf: Int32, _ connection: isolated PostgresConnection) throws -> [Product] {
        let query: PostgresStatement = """
            SELECT \(ProductRow.columns("r")), p.popularity_log2 FROM placement p
            JOIN product r ON r.store_id = p.store_id AND r.sku = p.sku WHERE p.store_id = 1 AND p.shelf_id = $1
            """
        return try connection.query(query, [.int4(shelf)]) {
            try $0.map { row in
                var product = try ProductRow.read(row)
                product.popularity = Popularity(log2: try row.float8(ProductColumn.read.count + 1))
                return product
            }
        }
    }

    private static func shelves(_ catalog: PostgresCatalog) async throws -> [Int32] {
        try await catalog.database.writes.perform {
            try $0.query("SELECT shelf_id FROM shelf WHERE store_id = 1 ORDER BY 1") { try $0.map { try $0.int4(0) } }
        }
    }

    @Test(
        "After writes of every kind, a shelf that followed the changes, or is read from its image, equals one that is read",
        arguments: 0..<3
    )
    func following(seed: Int) async throws {
        try await Self.withWrites(seed: seed) { catalog, writes in
            let shelves = try await Self.shelves(catalog)
            var snapshots: [Int32: ShelfSnapshot] = [:]
            var (followed, whole): ([ShelfWrites.Kind: Int], [ShelfWrites.Kind: Int]) = ([:], [:])
            var (images, changedImages) = (0, 0)
            for round in 0..<150 {
                // Some rounds change a shelf several times after its image.
                if round % 3 == 0 {
                    for shelf in shelves {
                        let location = ShelfLocation(storeID: 1, shelfID: shelf)
                        let before = try await Self.read(shelf, following: nil, catalog)
                        let wasCurrent = before.image != nil && !before.isChangedImage
                        let entry = ImageQueue.Entry(location: location)
                        let written = try await ShelfImages(catalog).write(entry, at: .now())
                        #expect(written != nil || wasCurrent)
                    }
                }
                let kind = ShelfWrites.Kind.allCases[round % ShelfWrites.Kind.allCases.count]
                try await writes.run(kind)
                for shelf in shelves {
                    let old = snapshots[shelf]
                    let reading = try await Self.read(shelf, following: old, catalog)
                    #expect(reading.agrees, "\(kind), shelf \(shelf), round \(round)")
                    snapshots[shelf] = reading.whole
                    if reading.image != nil { images += 1 }
                    if reading.isChangedImage { changedImages += 1 }
                    if reading.followed != nil, round % 3 == 0 { #expect(reading.image != nil, "\(kind)") }
                    guard let old, old.version != reading.whole.version else { continue }
                    if reading.followed == nil { whole[kind, default: 0] += 1 } else { followed[kind, default: 0] += 1 }
                }
            }
            #expect(images > 100 && changedImages > 30, "\(images), \(changedImages)")
            for kind in ShelfWrites.Kind.allCases where kind.isSmall {
                #expect(whole[kind] == nil, "\(kind)")
            }
            if seed == 0 {
                for kind in ShelfWrites.Kind.allCases where kind.isSmall {
                    #expect(followed[kind] != nil, "\(kind)")
                }
            }
        }
    }

    @Test("A shelf that was not read for several writes follows their chain, and none that is broken")
    func chains() async throws {
        try await Self.withWrites(seed: 7) { catalog, writes in
            let shelf = try await Self.shelves(catalog)[0]
            let first = try await Self.read(shelf, following: nil, catalog).whole
            for _ in 0..<10 { try await writes.run(.prices) }
            let second = try await Self.read(shelf, following: first, catalog)
            #expect(second.followed != nil && second.agrees && second.whole.version > first.version)
            // A version that no change leads to, as after a migration or by an earlier program.
            try await catalog.database.writes.perform { try $0.execute("UPDATE shelf SET version = version + 1") }
            for _ in 0..<3 { try await writes.run(.prices) }
            #expect(try await Self.read(shelf, following: second.whole, catalog).followed == nil)
            // A change that was trimmed.
            let third = try await Self.read(shelf, following: nil, catalog).whole
            for _ in 0..<5 { try await writes.run(.prices) }
            let trimming: PostgresStatement = """
                DELETE FROM shelf_change WHERE store_id = 1 AND (shelf_id, version) = (
                    SELECT shelf_id, version FROM shelf_change WHERE store_id = 1 AND shelf_id = $1 AND version > $2
                    ORDER BY version LIMIT 1)
                """
            let trimmed = try await catalog.database.writes.perform {
                try $0.execute(trimming, [.int4(shelf), .int8(third.version)])
            }
            #expect(trimmed == 1)
            #expect(try await Self.read(shelf, following: third, catalog).followed == nil)
            // A later version than the database has, as before it lost commits.
            let lost = ShelfSnapshot(version: third.version + 1_000_000_000, table: third.table)
            #expect(try await Self.read(shelf, following: lost, catalog).followed == nil)
        }
    }

    @Test("Old changes are trimmed, and new ones are kept")
    func trimming() async throws {
        try await Self.withWrites(seed: 3) { catalog, writes in
            for _ in 0..<10 { try await writes.run(.prices) }
            #expect(try await catalog.trimShelfChanges() == 0)
            let old = "UPDATE shelf_change SET version = version - 3600000000 WHERE shelf_id = 1"
            let aged = try await catalog.database.writes.perform { connection in
                try connection.execute(PostgresStatement(SQL(unchecked: old)))
            }
            #expect(aged > 0)
            #expect(try await catalog.trimShelfChanges() == aged)
            #expect(try await catalog.trimShelfChanges() == 0)
        }
    }

    /// How often readers followed a change.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func increment() { count.withLock { $0 += 1 } }
    }

    /// Compares a page with the rows of its version, in the order of SQL; false if the shelf has changed since.
    private static func isPageOfRows(
        _ catalog: PostgresCatalog,
        _ random: inout SeededGenerator
    ) async throws -> Bool {
        let sort = Sort.allSingle.randomElement(using: &random)!
        let shelf = ShelfWrites.shelves.randomElement(using: &random)!
        let page = try await catalog.pages.page(
            PageRequest(store: ShelfWrites.store, shelf: shelf, sort: sort, limit: 20)
        )
        let head = page.head
        let location = try await ShelfLookup(database: catalog.database).readHead(ShelfWrites.store, shelf).location
        return try await catalog.database.longReads.snapshot(within: .shelf) { connection in
            let ids: [PostgresValue] = [.int4(location.storeID), .int4(location.shelfID)]
            let version = try connection.query(
                "SELECT version FROM shelf WHERE store_id = $1 AND shelf_id = $2",
                ids
            ) { try $0.first { try $0.int8(0) } }
            guard version == head.state.version else { return false }
            let skus = try SQLOrder.ids(LocatedHead(head: head, location: location), sort, connection).prefix(20)
            let products = try Self.products(location.shelfID, connection)
            let bySKU = Dictionary(uniqueKeysWithValues: products.map { ($0.sku.text, $0) })
            #expect(page.products == skus.map { bySKU[$0] }, "\(shelf) by \(sort)")
            return true
        }
    }

    @Test("Readers that follow concurrent writers agree with what they read as a whole")
    func concurrency() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await ShelfWrites(catalog, seed: 0).prepare()
            let (shelves, followed) = (try await Self.shelves(catalog), Counter())
            let (fromImages, pages) = (Counter(), Counter())
            let deadline = ContinuousClock.now + .seconds(600)
            // A change of the whole store blocks the others for too long, and so does recollation.
            let kinds = ShelfWrites.Kind.allCases.filter { ![.boost, .recollation].contains($0) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 1...4 {
                    group.addTask {
                        var writes = ShelfWrites(catalog, seed: seed)
                        var count = 0
                        while count < 40 || followed.value < 60 {
                            try #require(ContinuousClock.now < deadline)
                            try await writes.run(kinds.randomElement(using: &writes.random)!)
                            count += 1
                        }
                    }
                }
                for shelf in shelves {
                    group.addTask {
                        var snapshot: ShelfSnapshot?
                        while followed.value < 60 {
                            try #require(ContinuousClock.now < deadline)
                            let reading = try await Self.read(shelf, following: snapshot, catalog)
                            #expect(reading.agrees)
                            if reading.image != nil { fromImages.increment() }
                            if let old = snapshot, let new = reading.followed, old.version != new.version {
                                followed.increment()
                            }
                            snapshot = reading.followed ?? reading.whole
                        }
                    }
                }
                // Another server stores images, and its pages match the rows at their version.
                let server = PostgresCatalog(catalog.database, encodingEvents: \.json)
                group.addTask {
                    var writes = ShelfWrites(server, seed: 9)
                    while followed.value < 60 || pages.value < 30 || fromImages.value < 10 {
                        try #require(ContinuousClock.now < deadline)
                        for shelf in shelves {
                            let entry = ImageQueue.Entry(location: ShelfLocation(storeID: 1, shelfID: shelf))
                            _ = try await ShelfImages(server).write(entry, at: .now())
                        }
                        if try await Self.isPageOfRows(server, &writes.random) { pages.increment() }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
