import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import Testing
import TestSupport

/// Announcements of changes between servers.
@Suite(.timeLimit(.minutes(15))) struct ChangeAnnouncerTests {
    @Test("Each change is announced to all servers")
    func changesAreAnnounced() async throws {
        let database = try await TestDatabase.migrated()
        let catalog = PostgresCatalog(try Database(database.configuration, announces: true), encodingEvents: \.json)
        let source = PostgresChangeSource(database.configuration)
        var notices = try source.notices().makeAsyncIterator()
        #expect(await notices.next() == .gap)
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        let user = UserID("ann \"'\\ 🧀")!
        let product = Product(sku: SKU("p")!, name: "P", priceMinor: 1)
        let changes: [(ChangeTopic, () async throws -> Void)] = [
            (
                .store(store),
                { _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!)) }
            ),
            (.store(store), { _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X"), in: store) }),
            (.store(store), { _ = try await catalog.products.put(product, in: store) }),
            (.store(store), { _ = try await catalog.products.place(product.sku, on: shelf, in: store) }),
            (
                .user(user),
                { _ = try await catalog.settings.edit(SettingsEdit([.init(SettingKey("k")!, .bool(true))]), of: user) }
            ),
            (.store(store), { try await catalog.products.unplace(product.sku, from: shelf, in: store) }),
            (.store(store), { try await catalog.products.remove(product: product.sku, from: store) }),
            (.user(user), { try await catalog.users.erase(user) }),
            (
                .all,
                {
                    let file = Array("store,sku,name\ns,q,Q\n".utf8)
                    let chunks = AsyncStream {
                        $0.yield(file); $0.finish()
                    }
                    _ = try await Importer(catalog).importFile(chunks, ImportOptions(format: .csv, createsStores: true))
                }
            ),
        ]
        for (topic, change) in changes {
            try await change()
            #expect(await notices.next() == .changed([topic]))
        }
        // Many changes are announced in few messages, and none is missing.
        let users = (0..<2000).map { UserID("user-\($0)-" + String(repeating: "x", count: 100))! }
        for user in users { catalog.database.announcer.announce(.user(user)) }
        var received: Set<ChangeTopic> = []
        while received.count < users.count {
            guard case .changed(let topics)? = await notices.next() else { break }
            received.formUnion(topics)
        }
        #expect(received == Set(users.map { .user($0) }))
        catalog.shutDown()
        try await database.drop()
    }
}
