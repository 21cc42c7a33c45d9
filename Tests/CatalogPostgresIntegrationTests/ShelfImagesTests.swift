import Catalog
import CatalogJSON
import LibPQ
import Ordering
import Shelves
import TestSupport
import Testing

@testable import CatalogPostgres

/// Servers store images of shelves, and read shelves from them.
@Suite(.timeLimit(.minutes(10))) struct ShelfImagesTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("dairy")!)

    /// Runs a body with a shelf of 40 products, and the server that stored its image.
    private static func withImage(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            _ = try await catalog.pages.page(request)
            #expect(try await ShelfImages(catalog).write() == 1)
            try await body(catalog)
        }
    }

    private static func fill(_ catalog: PostgresCatalog) async throws {
        var random = SeededGenerator(seed: 1)
        _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: shelf, title: "T"), in: store)
        for number in 0..<40 {
            let product = Product.random(number, using: &random)
            _ = try await catalog.products.put(product, in: store)
            _ = try await catalog.products.place(product.sku, on: shelf, in: store)
        }
    }

    private static let request = PageRequest(store: store, shelf: shelf, sort: Sort(.name, .ascending)!, limit: 30)

    /// Returns a server that has no shelf in memory.
    private static func newServer(_ catalog: PostgresCatalog) -> PostgresCatalog {
        PostgresCatalog(catalog.database, encodingEvents: \.json)
    }

    /// Changes what pages show of all products without a new version, so that a page shows from where its products come.
    private static func mark(_ catalog: PostgresCatalog) async throws {
        try await catalog.database.writes.perform { try $0.execute("UPDATE product SET barcode = 'rows'") }
    }

    /// Returns how many products of the first page are read from rows.
    private static func fromRows(_ catalog: PostgresCatalog) async throws -> Int {
        try await catalog.pages.page(request).products.count { $0.barcode == "rows" }
    }

    @Test("A server without the shelf reads it and its products from the image, and later only what changed")
    func reading() async throws {
        try await Self.withImage { catalog in
            let page = try await catalog.pages.page(Self.request)
            let server = Self.newServer(catalog)
            #expect(try await server.pages.page(Self.request).products == page.products)
            try await Self.mark(catalog)
            #expect(try await Self.fromRows(Self.newServer(catalog)) == 0)
            let first = page.products[0]
            try await catalog.prices.setPrices([PriceChange(sku: first.sku, priceMinor: 77)], in: Self.store)
            let changed = try await Self.newServer(catalog).pages.page(Self.request).products
            #expect(changed.count == 30 && changed[0].priceMinor == 77)
            #expect(changed.map { $0.barcode == "rows" } == [true] + Array(repeating: false, count: 29))
        }
    }

    @Test("A server that has the shelf reads more than half of a page from the image")
    func shownAgain() async throws {
        try await Self.withImage { catalog in
            let server = Self.newServer(catalog)
            _ = try await server.pages.page(Self.request)
            try await Self.mark(catalog)
            // An array of products keeps none, so each page needs all of them.
            #expect(try await Self.fromRows(server) == 0)
        }
    }

    @Test("Without an image that fits, the shelf is read as a whole, and its image is stored again")
    func unusable() async throws {
        let changes: [SQL] = [
            "DELETE FROM shelf_image", "UPDATE shelf_image SET format = format + 1",
            "UPDATE shelf_image SET image = '\\x00'", "UPDATE shelf_image SET image = substr(image, 1, 1000)",
            "UPDATE shelf_image SET image = set_byte(image, 100, 255 - get_byte(image, 100))",
            "UPDATE shelf_image SET version = version - 1",
        ]
        try await Self.withImage { catalog in
            let page = try await catalog.pages.page(Self.request).products
            try await Self.mark(catalog)
            for change in changes {
                try await catalog.database.writes.perform { try $0.execute(PostgresStatement(change)) }
                let server = Self.newServer(catalog)
                #expect(try await server.pages.page(Self.request).products.map(\.sku) == page.map(\.sku))
                #expect(try await Self.fromRows(server) == 30, "\(change)")
                #expect(try await ShelfImages(server).write() == 1, "\(change)")
                #expect(try await ShelfImages(server).write() == 0)
                try await catalog.database.writes.perform { try $0.execute("UPDATE product SET barcode = NULL") }
                #expect(try await Self.fromRows(Self.newServer(catalog)) == 30, "\(change)")
                try await Self.mark(catalog)
            }
        }
    }

    @Test("An image that waits while its shelf changes is read again")
    func outdatedInQueue() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let first = try await catalog.pages.page(Self.request).products[0]
            try await catalog.prices.setPrices([PriceChange(sku: first.sku, priceMinor: 77)], in: Self.store)
            #expect(try await ShelfImages(catalog).write() == 1)
            try await Self.mark(catalog)
            let page = try await Self.newServer(catalog).pages.page(Self.request).products
            #expect(page[0].priceMinor == 77)
            #expect(page.allSatisfy { $0.barcode != "rows" })
        }
    }

    @Test("Servers do not store an image that another one has stored")
    func concurrentServers() async throws {
        try await Self.withImage { catalog in
            try await catalog.database.writes.perform { try $0.execute("UPDATE shelf_image SET format = 0") }
            let servers = [Self.newServer(catalog), Self.newServer(catalog)]
            for server in servers { _ = try await server.pages.page(Self.request) }
            var written = 0
            for server in servers { written += try await ShelfImages(server).write() }
            #expect(written == 1)
        }
    }

    @Test("A starting server reads the shelves that were used last, and no others")
    func starting() async throws {
        try await Self.withImage { catalog in
            try await Self.mark(catalog)
            let server = Self.newServer(catalog)
            #expect(
                try await ShelfImages(server).readLastUsed(within: .seconds(60)) == [
                    ShelfAddress(Self.store, Self.shelf)
                ]
            )
            #expect(server.shelfMemoryUse.shelves.count == 1)
            #expect(try await server.pages.page(Self.request).products.count == 30)
            #expect(server.shelfMemoryUse.hits == 1)
            // Without time, it reads none.
            let late = Self.newServer(catalog)
            #expect(try await ShelfImages(late).readLastUsed(within: .zero).isEmpty)
            // Images of other formats are none of this program's.
            try await catalog.database.writes.perform { try $0.execute("UPDATE shelf_image SET format = 0") }
            #expect(try await ShelfImages(late).readLastUsed(within: .seconds(60)).isEmpty)
        }
    }

    @Test("An import that changes most of a shelf stores its image if servers use it")
    func imports() async throws {
        try await Self.withImage { catalog in
            var reader = Self.request
            reader.limit = 100
            func importPrices(_ price: Int, of count: Int) async throws {
                let rows = try await catalog.pages.page(reader).products.prefix(count).map {
                    "s,dairy,\($0.sku.text),\"\($0.name.replacing("\"", with: "\"\""))\",EUR,\(price).37"
                }
                let file = ["store,shelf,sku,name,currency,price"] + rows
                let summary = try await Importer(catalog).importFile(
                    ImporterTests.Chunks(text: file.joined(separator: "\n")),
                    ImportOptions(format: .csv)
                )
                #expect(summary.updated == count, "\(summary)")
            }
            let server = Self.newServer(catalog)
            _ = try await server.pages.page(Self.request)
            // Also a server that has the shelf before the import reads it from the image afterwards.
            try await importPrices(30, of: 40)
            try await Self.mark(catalog)
            for reading in [server, Self.newServer(catalog)] {
                let found = try await reading.pages.page(Self.request).products
                #expect(found.allSatisfy { $0.priceMinor == 3037 && $0.barcode != "rows" })
            }
            // Changes of a few products are recorded, and the image stays.
            try await importPrices(40, of: 2)
            try await Self.mark(catalog)
            let changed = try await Self.newServer(catalog).pages.page(Self.request).products
            #expect(changed.count { $0.barcode == "rows" } == 2)
            // Nobody has used the image for two days.
            try await catalog.database.writes.perform {
                try $0.execute("UPDATE shelf_image SET used_at = now() - interval '2 days'")
            }
            try await importPrices(50, of: 40)
            try await Self.mark(catalog)
            #expect(try await Self.fromRows(Self.newServer(catalog)) == 30)
        }
    }

    @Test("An image never replaces a later one")
    func laterImage() async throws {
        try await Self.withImage { catalog in
            let (format, key) = (PostgresValue.int8(ShelfReader.imageFormat), [PostgresValue.int4(1), .int4(1)])
            func write(_ version: Int64, _ format: PostgresValue) async throws {
                let image: [PostgresValue] = [
                    .int8(version), format, .timestamptz(Timestamp.now().microseconds), .bytea([UInt8(version)]),
                ]
                _ = try await catalog.database.batch.perform(within: .edit) {
                    try $0.execute(ShelfImageStatements.write, key + image)
                }
            }
            func stored() async throws -> Int64 {
                try await catalog.database.writes.perform {
                    try $0.query("SELECT version FROM shelf_image") { try $0.first { try $0.int8(0) } ?? 0 }
                }
            }
            let version = try await stored()
            try await write(1, format)
            #expect(try await stored() == version)
            // Of another program.
            try await write(2, .int8(0))
            #expect(try await stored() == 2)
            try await write(3, .int8(0))
            #expect(try await stored() == 3)
        }
    }

    @Test("Images are kept for 30 days after the last use of their shelf")
    func lifetime() async throws {
        try await Self.withImage { catalog in
            let (images, day) = (ShelfImages(catalog), Int64(86_400_000_000))
            func after(_ time: Int64) -> Timestamp { Timestamp(microseconds: Timestamp.now().microseconds + time) }
            try await images.markUsed(at: after(5 * day))
            #expect(try await images.deleteUnused(at: after(34 * day)) == 0)
            // A server without the shelf does not mark it. A server that has read the shelf only at the start does not mark it either.
            try await ShelfImages(Self.newServer(catalog)).markUsed(at: after(20 * day))
            let server = Self.newServer(catalog)
            #expect(
                try await ShelfImages(server).readLastUsed(within: .seconds(60)) == [
                    ShelfAddress(Self.store, Self.shelf)
                ]
            )
            try await ShelfImages(server).markUsed(at: after(20 * day))
            // It was used, but not since the last mark.
            try await images.markUsed(at: after(20 * day))
            #expect(try await images.deleteUnused(at: after(36 * day)) == 1)
        }
    }
}

@Suite struct ImageQueueTests {
    private static func entry(_ number: Int32) -> ImageQueue.Entry {
        ImageQueue.Entry(location: ShelfLocation(storeID: 1, shelfID: number))
    }

    @Test("Each shelf waits once, in the order of entry, and not again before the interval has passed")
    func order() {
        var queue = ImageQueue()
        let start = ContinuousClock.now
        for number in [3, 1, 3, 2, 1] as [Int32] { queue.insert(Self.entry(number), at: start) }
        #expect((0..<4).map { _ in queue.next(at: start)?.location.shelfID } == [3, 1, 2, nil])
        queue.insert(Self.entry(1), at: start + ImageQueue.interval - .nanoseconds(1))
        #expect(queue.next(at: start) == nil)
        queue.insert(Self.entry(1), at: start + ImageQueue.interval)
        #expect(queue.next(at: start)?.location.shelfID == 1)
    }

    @Test("A shelf that changes in memory waits once, for the delay, and accepts the image of another server")
    func changes() {
        var queue = ImageQueue()
        let start = ContinuousClock.now
        let location = Self.entry(7).location
        queue.noteChange(of: location, at: start)
        queue.noteChange(of: location, at: start + .seconds(9))
        #expect(queue.next(at: start + ImageQueue.delay - .nanoseconds(1)) == nil)
        #expect(queue.next(at: start + ImageQueue.delay)?.tolerance == 900_000_000)
        #expect(queue.next(at: start + ImageQueue.delay + .seconds(9)) == nil)
        // The next change counts again.
        queue.noteChange(of: location, at: start + ImageQueue.delay)
        #expect(queue.next(at: start + ImageQueue.delay * 2)?.location == location)
    }

    @Test("The number of waiting shelves is limited")
    func limit() {
        var queue = ImageQueue()
        let now = ContinuousClock.now
        for number in 0...Int32(ImageQueue.limit) { queue.insert(Self.entry(number), at: now) }
        var count = 0
        while queue.next(at: now) != nil { count += 1 }
        #expect(count == ImageQueue.limit)
    }
}
