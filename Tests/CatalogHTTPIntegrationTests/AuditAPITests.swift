import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// Every endpoint that writes adds exactly its entry to the audit log.
@Suite(.timeLimit(.minutes(5))) struct AuditAPITests {
    /// Calls endpoints one after another, and compares the log after each call.
    private final class Caller: Sendable {
        let client: any TestClient
        let catalog: PostgresCatalog
        private let calledOperations = Mutex<Set<String>>([])

        init(_ client: any TestClient, _ catalog: PostgresCatalog) {
            (self.client, self.catalog) = (client, catalog)
        }

        var operations: Set<String> { calledOperations.withLock { $0 } }

        /// The latest entries of the store and of the user, newest first.
        private func entries(_ user: String) async throws -> [AuditEntry] {
            let own = try await catalog.audit.audit(AuditRequest(.user(UserID(user)!), limit: 100)).entries
            // Before its creation, the store has no log.
            let ofStore = try? await catalog.audit.audit(AuditRequest(.store(CatalogKey("s")!), limit: 100)).entries
            return (ofStore ?? []) + own
        }

        /// Sends a request, and checks that it adds the entries of the given actions, with the subject, and no others.
        @discardableResult
        func call(
            _ operation: String,
            _ path: String? = nil,
            _ body: String? = nil,
            type: String = "application/json",
            as user: String = "ann",
            adds actions: AuditAction...,
            subject: String? = nil,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> JSONValue {
            calledOperations.withLock { _ = $0.insert(operation) }
            let parts = operation.split(separator: " ")
            let before = Set(try await entries(user).map(\.id))
            let id = UniqueID.random().text
            let response = try await client.execute(
                uri: path ?? String(parts[1]),
                method: HTTPRequest.Method(String(parts[0]))!,
                headers: [
                    .authorization: "Bearer \(try await TestAPI.token(user, [.catalogWrite]))", .contentType: type,
                    .init("X-Request-Id")!: id,
                ],
                body: body.map { ByteBuffer(string: $0) }
            )
            let text = String(buffer: response.body)
            #expect(response.status.kind == .successful, "\(operation): \(text)", sourceLocation: sourceLocation)
            let added = try await entries(user).filter { !before.contains($0.id) }
            #expect(
                Set(added.map(\.action)) == Set(actions.map(\.rawValue)) && added.count == actions.count,
                "\(operation): \(added)",
                sourceLocation: sourceLocation
            )
            for entry in added where !actions.contains(.userErase) {
                #expect(entry.origin.source == .api, "\(operation)", sourceLocation: sourceLocation)
                #expect(entry.origin.actor == user, "\(operation)", sourceLocation: sourceLocation)
                #expect(entry.origin.address == "127.0.0.1", "\(operation)", sourceLocation: sourceLocation)
                #expect(entry.origin.requestID == id, "\(operation)", sourceLocation: sourceLocation)
                #expect(
                    entry.origin.token?.hasPrefix("sha256:") == true,
                    "\(operation)",
                    sourceLocation: sourceLocation
                )
            }
            if let first = added.first, actions.count == 1 {
                #expect(first.subject == subject, "\(operation)", sourceLocation: sourceLocation)
            }
            return text.isEmpty ? .null : try JSONReader.parse(Array(text.utf8))
        }
    }

    /// Operations that write nothing, or only the caller's short-lived credentials.
    private static let unaudited: Set<String> = [
        "POST /v1/stores/{store}/shelves/{shelf}/order/diff", "POST /v1/stores/{store}/shelves/{shelf}/order/rank",
        "POST /v1/order/diff", "POST /v1/me/tickets", "POST /demo/tokens",
    ]
    /// Operations of the demo, which sets prices.
    private static let demo: Set<String> = ["POST /demo/stores/{store}/storm"]

    @Test("Every documented operation that writes adds exactly its entry")
    func everyWriteIsRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let api = await TestAPI.api(catalog.storage, importer: Importer(catalog))
            let documented = Set(
                api.table.endpoints.filter { $0.operation != nil }.map { "\($0.method.rawValue) \($0.path)" }
            )
            let writing = documented.filter { !$0.hasPrefix("GET ") }
            try await TestAPI.run(api) { client in
                let caller = Caller(client, catalog)
                try await Self.changeStore(caller)
                try await Self.changeImportProfiles(caller)
                try await Self.changeAttributes(caller)
                try await Self.changeSynonyms(caller)
                try await Self.changeLists(caller)
                try await Self.changeUser(caller)
                try await caller.call("DELETE /v1/stores/{store}", "/v1/stores/s?confirm=s", adds: .storeDelete)
                let untested = writing.subtracting(caller.operations).subtracting(Self.unaudited).subtracting(Self.demo)
                #expect(untested.sorted() == [], "each operation that writes needs an entry, and a call here")
                let unknown = caller.operations.subtracting(documented)
                #expect(unknown.sorted() == [])
            }
        }
    }

    private static func changeImportProfiles(_ caller: Caller) async throws {
        let path = "/v1/import-profiles/supplier"
        try await caller.call(
            "PUT /v1/import-profiles/{name}",
            path,
            #"{"columns":{"sku":"Code"}}"#,
            adds: .importProfilePut,
            subject: "supplier"
        )
        try await caller.call("PUT /v1/import-profiles/{name}", path, #"{"columns":{"sku":"Code"}}"#)
        try await caller.call(
            "DELETE /v1/import-profiles/{name}",
            path,
            adds: .importProfileDelete,
            subject: "supplier"
        )
    }

    private static func changeSynonyms(_ caller: Caller) async throws {
        for (owner, put, delete) in [
            ("/v1", AuditAction.deploymentSynonymsPut, AuditAction.deploymentSynonymsDelete),
            ("/v1/stores/{store}", .synonymsPut, .synonymsDelete),
        ] {
            let template = owner + "/synonyms"
            let path = template.replacing("{store}", with: "s")
            try await caller.call("PUT \(template)", path, #"{"synonyms":[["pop","soda"]]}"#, adds: put)
            try await caller.call("PUT \(template)", path, #"{"synonyms":[["pop","soda"]]}"#)
            try await caller.call("PUT \(template)", path, "{}", adds: put)
            try await caller.call("DELETE \(template)", path, adds: delete)
        }
    }

    private static func changeAttributes(_ caller: Caller) async throws {
        for (owner, put, delete) in [
            ("/v1", AuditAction.deploymentAttributePut, AuditAction.deploymentAttributeDelete),
            ("/v1/stores/{store}", .attributePut, .attributeDelete),
        ] {
            let path = owner + "/attributes/{attribute}"
            let rating = owner.replacing("{store}", with: "s") + "/attributes/rating"
            try await caller.call("PUT \(path)", rating, #"{"type":"text"}"#, adds: put, subject: "rating")
            try await caller.call("PUT \(path)", rating, #"{"type":"text"}"#)
            try await caller.call("PUT \(path)", rating, #"{"type":"number"}"#, adds: put, subject: "rating")
            try await caller.call("DELETE \(path)", rating, adds: delete, subject: "rating")
        }
    }

    private static func changeStore(_ caller: Caller) async throws {
        let (store, shelf) = ("/v1/stores/s", "/v1/stores/s/shelves/dairy")
        try await caller.call(
            "PUT /v1/stores/{store}",
            store,
            #"{"title":"S","currency":"EUR"}"#,
            adds: .storeCreate
        )
        let putShelf = "PUT /v1/stores/{store}/shelves/{shelf}"
        try await caller.call(putShelf, shelf, #"{"title":"Dairy"}"#, adds: .shelfCreate, subject: "dairy")
        try await caller.call(putShelf, store + "/shelves/x", "{}", adds: .shelfCreate, subject: "x")
        try await caller.call(
            "PATCH /v1/stores/{store}/shelves/{shelf}",
            shelf,
            #"{"default_sort":"-price"}"#,
            adds: .shelfChange,
            subject: "dairy"
        )
        try await caller.call(putShelf, shelf, #"{"title":"Dairy","default_sort":"-price"}"#)
        let moves = #"{"moves":[{"ids":["x"],"place":"first"}]}"#
        try await caller.call(
            "POST /v1/stores/{store}/shelves/order/moves",
            store + "/shelves/order/moves",
            moves,
            adds: .shelvesMove
        )
        let putProduct = "PUT /v1/stores/{store}/products/{sku}"
        for sku in ["a", "b", "c"] {
            let path = store + "/products/" + sku
            try await caller.call(
                putProduct,
                path,
                #"{"name":"P","price_minor":1}"#,
                adds: .productCreate,
                subject: sku
            )
            try await caller.call(
                "PUT /v1/stores/{store}/shelves/{shelf}/products/{sku}",
                shelf + "/products/" + sku,
                adds: .placementCreate,
                subject: sku
            )
        }
        try await caller.call(
            "PATCH /v1/stores/{store}/products/{sku}",
            store + "/products/a",
            #"{"brand":"B"}"#,
            adds: .productChange,
            subject: "a"
        )
        let order = shelf + "/order"
        try await caller.call(
            "POST /v1/stores/{store}/shelves/{shelf}/order/moves",
            order + "/moves",
            #"{"moves":[{"ids":["c"],"place":"first"}]}"#,
            adds: .orderMove,
            subject: "dairy"
        )
        try await caller.call(
            "POST /v1/stores/{store}/shelves/{shelf}/order/undo",
            order + "/undo",
            "{}",
            adds: .orderUndo,
            subject: "dairy"
        )
        let putOrder = "PUT /v1/stores/{store}/shelves/{shelf}/order"
        try await caller.call(putOrder, order, #"{"ids":["b","a","c"]}"#, adds: .orderSet, subject: "dairy")
        try await caller.call(putOrder, order, #"{"from_sort":"name"}"#, adds: .orderSnapshot, subject: "dairy")
        try await caller.call(
            "POST /v1/stores/{store}/prices",
            store + "/prices",
            #"[{"sku":"a","price_minor":7}]"#,
            adds: .pricesSet,
            subject: "a"
        )
        let now = Timestamp.now().rfc3339
        let event = #"[{"event_id":"018f0000-0000-7000-8000-000000000009","sku":"a","quantity":1,"at":"\#(now)"}]"#
        let purchases = "POST /v1/stores/{store}/purchases"
        try await caller.call(purchases, store + "/purchases", event, adds: .purchasesAdd)
        try await caller.call(purchases, store + "/purchases", event)
        let imports = "POST /v1/stores/{store}/imports"
        let file = "sku,name,shelf\nd,D,Dairy\n"
        try await caller.call(imports, store + "/imports?dry_run=true", file, type: "text/csv")
        try await caller.call(imports, store + "/imports", file, type: "text/csv", adds: .importApply)
        try await caller.call(imports, store + "/imports", file, type: "text/csv")
        try await caller.call(
            "DELETE /v1/stores/{store}/shelves/{shelf}/products/{sku}",
            shelf + "/products/b",
            adds: .placementDelete,
            subject: "b"
        )
        try await caller.call(
            "DELETE /v1/stores/{store}/products/{sku}",
            store + "/products/b",
            adds: .productDelete,
            subject: "b"
        )
        try await caller.call(
            "DELETE /v1/stores/{store}/shelves/{shelf}",
            store + "/shelves/x",
            adds: .shelfDelete,
            subject: "x"
        )
    }

    private static func changeLists(_ caller: Caller) async throws {
        let id = "018f0000-0000-7000-8000-000000000001"
        let item = "018f0000-0000-7000-8000-000000000002"
        let list = "/v1/me/lists/" + id
        let template = "/v1/me/lists/{list}"
        try await caller.call(
            "POST /v1/me/lists",
            nil,
            #"{"id":"\#(id)","name":"Week"}"#,
            adds: .listCreate,
            subject: id
        )
        let second = try await caller.catalog.lists.createList(NewList(name: "Other"), of: UserID("ann")!, once: nil)
        guard case .list(_, isNew: true) = second else {
            Issue.record("no list was created")
            return
        }
        try await caller.call(
            "POST /v1/me/lists/order/moves",
            nil,
            #"{"moves":[{"ids":["\#(id)"],"place":"last"}]}"#,
            adds: .listsMove
        )
        try await caller.call("PATCH \(template)", list, #"{"name":"Month"}"#, adds: .listChange, subject: id)
        try await caller.call("PATCH \(template)", list, #"{"name":"Month"}"#)
        try await caller.call(
            "POST \(template)/items",
            list + "/items",
            #"{"items":[{"id":"\#(item)","text":"Milk"},{"text":"Bread"}]}"#,
            adds: .listChange,
            subject: id
        )
        try await caller.call(
            "PATCH \(template)/items",
            list + "/items",
            #"{"items":[{"id":"\#(item)","checked":true}]}"#,
            adds: .listChange,
            subject: id
        )
        try await caller.call(
            "PATCH \(template)/items/{item}",
            list + "/items/" + item,
            #"{"checked":false}"#,
            adds: .listChange,
            subject: id
        )
        try await caller.call(
            "POST \(template)/order/moves",
            list + "/order/moves",
            #"{"moves":[{"ids":["\#(item)"],"place":"last"}]}"#,
            adds: .listChange,
            subject: id
        )
        try await caller.call(
            "DELETE \(template)/items/{item}",
            list + "/items/" + item,
            adds: .listChange,
            subject: id
        )
        let share = try await caller.call("POST \(template)/shares", list + "/shares", adds: .listShare, subject: id)
        let token = try #require(share["token"]?.string)
        let joining = #"{"token":"\#(token)"}"#
        try await caller.call("POST /v1/me/lists/join", nil, joining, as: "bob", adds: .listJoin, subject: id)
        try await caller.call("POST /v1/me/lists/join", nil, joining, as: "bob")
        try await caller.call("DELETE \(template)", list, as: "bob", adds: .listLeave, subject: id)
        let shareID = try #require(share["id"]?.string)
        try await caller.call(
            "DELETE \(template)/shares/{share}",
            list + "/shares/" + shareID,
            adds: .listRevoke,
            subject: id
        )
        try await caller.call("DELETE \(template)", list, adds: .listDelete, subject: id)
    }

    private static func changeUser(_ caller: Caller) async throws {
        let sort = "/v1/me/stores/s/shelves/dairy/sort"
        let sortTemplate = "/v1/me/stores/{store}/shelves/{shelf}/sort"
        let key = SettingKey.sort(of: CatalogKey("dairy")!, in: CatalogKey("s")!).text
        try await caller.call("PUT \(sortTemplate)", sort, #"{"sort":"name"}"#, adds: .settingsChange, subject: key)
        // The same value has a new revision.
        try await caller.call("PUT \(sortTemplate)", sort, #"{"sort":"name"}"#, adds: .settingsChange, subject: key)
        try await caller.call("DELETE \(sortTemplate)", sort, adds: .settingsChange, subject: key)
        let setting = "/v1/me/settings/theme"
        try await caller.call(
            "PUT /v1/me/settings/{key}",
            setting,
            #"{"value":"dark"}"#,
            adds: .settingsChange,
            subject: "theme"
        )
        try await caller.call("DELETE /v1/me/settings/{key}", setting, adds: .settingsChange, subject: "theme")
        let time = Timestamp.now().rfc3339
        try await caller.call(
            "PUT /v1/me/settings",
            nil,
            #"{"settings":[{"key":"a","value":1,"modified_at":"\#(time)"},{"key":"b","value":2,"modified_at":"\#(time)"}]}"#,
            adds: .settingsChange
        )
        try await caller.call("GET /v1/me/export", adds: .userExport)
        let guest = try await TestAPI.token("guest:7")
        try await caller.call(
            "PUT /v1/me/settings/{key}",
            setting,
            #"{"value":"guest"}"#,
            as: "guest:7",
            adds: .settingsChange,
            subject: "theme"
        )
        let body = #"{"guest_token":"\#(guest)"}"#
        try await caller.call("POST /v1/me/merge", nil, body, adds: .userMerge)
        try await caller.call("POST /v1/me/merge", nil, body)
        try await caller.call("DELETE /v1/me", adds: .userErase)
    }

    @Test("A day of the demo is recorded as a change of prices by its caller")
    func demoIsRecorded() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = CatalogKey("s")!
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.products.put(Product(sku: SKU("a")!, name: "A", priceMinor: 1), in: store)
            var options = CatalogAPI.Options()
            options.demo = Demo(
                signer: TokenSigner(secret: TestAPI.secret),
                storms: [store: [[PriceChange(sku: SKU("a")!, priceMinor: 2)]]]
            )
            let api = await TestAPI.api(catalog.storage, importer: TestAPI.NoImports(), options: options)
            try await TestAPI.run(api) { client in
                let caller = Caller(client, catalog)
                try await caller.call(
                    "POST /demo/stores/{store}/storm",
                    "/demo/stores/s/storm",
                    adds: .pricesSet,
                    subject: "a"
                )
            }
        }
    }
}
