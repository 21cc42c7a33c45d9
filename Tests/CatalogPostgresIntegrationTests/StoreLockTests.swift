import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The locks of stores: which writes wait for which, and how long a transaction waits.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the scripts lock the rows of one server"),
    .timeLimit(.minutes(15))
) struct StoreLockTests {
    private typealias Work = InterleavingTests.Work

    private static let shop = CatalogKey("shop")!
    private static let (dairy, cheese) = (CatalogKey("dairy")!, CatalogKey("cheese")!)
    private static let milk = SKU("milk")!

    private static func store(_ metric: PopularityMetric = .decay, title: String = "Shop") -> Store {
        Store(key: shop, title: title, currency: Currency("EUR")!, popularityMetric: metric)
    }

    /// Fills a store with two shelves, and with a product on the first one.
    private static func fill(_ catalog: PostgresCatalog) async throws {
        _ = try await catalog.shelves.put(store())
        for key in [dairy, cheese] { _ = try await catalog.shelves.put(Shelf(key: key, title: key.text), in: shop) }
        _ = try await catalog.products.put(Product(sku: milk, name: "Milk"), in: shop)
        _ = try await catalog.products.place(milk, on: dairy, in: shop)
    }

    private static func purchase() -> Purchase {
        Purchase(eventID: UniqueID.random().text, sku: milk, quantity: 1, at: .now())
    }

    private static func moveShelves(_ catalog: PostgresCatalog) async throws {
        let moves = [OrderMove([cheese.text], .first)]
        _ = try await catalog.shelves.moveShelves(moves, in: shop, expected: nil, once: nil)
    }

    // MARK: - Deletion

    /// The writes that lock their store, by name.
    private static func writes(_ catalog: PostgresCatalog) -> [(name: String, write: Work)] {
        [
            ("product", { _ = try await catalog.products.put(Product(sku: SKU("new")!, name: "New"), in: shop) }),
            (
                "prices",
                {
                    let change = PriceChange(sku: milk, priceMinor: 5)
                    _ = try await catalog.prices.setPrices([change], in: shop, pricedIn: Currency("EUR")!)
                }
            ),
            ("purchases", { _ = try await catalog.purchases.add([purchase()], to: shop) }),
            (
                "order",
                {
                    let edit = ManualOrderEdit.moves([OrderMove([milk.text], .first)])
                    let request = OrderEditRequest(store: shop, shelf: dairy, edit: edit)
                    _ = try await catalog.manualOrder.editOrder(request, once: nil)
                }
            ),
            (
                "response",
                {
                    let call = IdempotentCall<RecordedResponse>(key: "k", fingerprint: [1])
                    try await catalog.responses.record(RecordedResponse(body: []), of: call, in: shop)
                }
            ),
            ("shelf", { _ = try await catalog.shelves.put(Shelf(key: dairy, title: "New"), in: shop) }),
            ("removed shelf", { try await catalog.shelves.remove(shelf: cheese, from: shop) }),
            ("order of shelves", { try await moveShelves(catalog) }),
        ]
    }

    @Test("Each write that locks its store waits for the store's deletion, and then finds no store")
    func deletion() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            for (name, write) in Self.writes(catalog) {
                let results = try await InterleavingTests.run(
                    [write],
                    while: """
                        SELECT FROM store_state WHERE store_id = 1 FOR UPDATE;
                        UPDATE store SET deleted_at = now() WHERE store_id = 1
                        """,
                    in: catalog
                )
                #expect(throws: CatalogError.notFound("store “shop”"), "\(name)") { try results[0].get() }
                try await catalog.database.writes.perform {
                    try $0.run(script: "UPDATE store SET deleted_at = NULL WHERE store_id = 1")
                }
            }
        }
    }

    // MARK: - Limits of waits

    /// Records the settings of transactions that change the states of stores or the cells of the inbox.
    private static let recording = """
        CREATE TABLE transaction_setting (setting text);
        CREATE FUNCTION record_settings() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO transaction_setting
            VALUES (concat_ws(' ', TG_TABLE_NAME, current_setting('lock_timeout'), current_setting('plan_cache_mode')));
            RETURN NULL;
        END $$;
        CREATE TRIGGER record_settings AFTER INSERT OR UPDATE ON store_state
            FOR EACH STATEMENT EXECUTE FUNCTION record_settings();
        CREATE TRIGGER record_settings AFTER UPDATE ON purchase_cell
            FOR EACH STATEMENT EXECUTE FUNCTION record_settings();
        """

    @Test("Transactions on a whole store wait for locks without a limit, and the others have limits")
    func limitsOfWaits() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let day = Timestamp.now().day
            let book = PurchaseBook(catalog)
            let owner = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
            try await owner.perform { try $0.run(script: Self.recording) }
            let steps: [(name: String, work: Work, settings: [String])] = [
                ("creation", { try await Self.fill(catalog) }, ["store_state 0 force_generic_plan"]),
                (
                    "change", { _ = try await catalog.shelves.put(Self.store(title: "New")) },
                    ["store_state 0 force_generic_plan"]
                ),
                // The catalogs of tests wait for locks for a minute.
                ("order of shelves", { try await Self.moveShelves(catalog) }, ["store_state 1min force_generic_plan"]),
                (
                    "new rule", { _ = try await catalog.shelves.put(Self.store(.last7Days)) },
                    ["store_state 0 force_generic_plan"]
                ),
                (
                    "count by a new rule", { _ = try await book.count(Self.shop, day: day) },
                    ["store_state 0 force_custom_plan"]
                ),
                (
                    "count by the same rule", { _ = try await book.count(Self.shop, day: day) },
                    ["store_state 2min force_generic_plan"]
                ),
                (
                    "retention", { _ = try await book.applyRetention(Self.shop, olderThan: 10, day: day) },
                    ["store_state 0 force_custom_plan"]
                ),
                ("purchases", { _ = try await catalog.purchases.add([Self.purchase()], to: Self.shop) }, []),
                // The cells are sealed without a limit, and folded with one.
                (
                    "fold", { _ = try await PurchaseFold(catalog).run() },
                    ["purchase_cell 0 force_custom_plan", "purchase_cell 2min force_custom_plan"]
                ),
                (
                    "deletion", { _ = try await catalog.shelves.remove(store: Self.shop) },
                    ["store_state 0 force_generic_plan"]
                ),
            ]
            for (name, work, expected) in steps {
                try await owner.perform { try $0.run(script: "DELETE FROM transaction_setting") }
                try await work()
                let settings = try await owner.perform { connection in
                    try connection.query("SELECT DISTINCT setting FROM transaction_setting ORDER BY 1") {
                        try $0.map { try $0.text(0) }
                    }
                }
                #expect(settings == expected, "\(name)")
            }
            await owner.close()
        }
    }
}
