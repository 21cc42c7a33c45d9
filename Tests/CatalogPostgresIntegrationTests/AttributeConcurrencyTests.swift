import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Changes of attributes during other ones, which a test holds open.
@Suite(.timeLimit(.minutes(15))) struct AttributeConcurrencyTests {
    private static let (shop, kiosk) = (StatementProbe.shop, StatementProbe.other)
    private static let (rating, protein) = (AttributeName("rating")!, AttributeName("protein")!)
    private static let number = #"{"type":"number"}"#

    private static func declare(
        _ body: String,
        _ name: AttributeName,
        for owner: DeclarationOwner,
        in catalog: PostgresCatalog
    ) async throws {
        let declaration = try AttributeDeclaration(name: name, text: Array(body.utf8))
        _ = try await catalog.attributes.declare(declaration, for: owner)
    }

    /// SQL that a store's declaration runs.
    private static func declaringInShop(_ name: AttributeName, _ document: String) -> String {
        """
        SELECT FROM store_state WHERE store_id = 1 FOR NO KEY UPDATE;
        SELECT FROM deployment WHERE deployment_id = 1 FOR SHARE;
        INSERT INTO store_attribute (store_id, name, document) VALUES (1, '\(name)', '\(document)');
        """
    }

    /// SQL that begins a change of the deployment's attributes.
    private static let changingDeployment = """
        UPDATE deployment SET attribute_revision = attribute_revision + 1 WHERE deployment_id = 1;
        """

    /// Runs changes while another transaction is open.
    ///
    /// - Parameters:
    ///   - script: what the other transaction does.
    ///   - change: a change that waits for the transaction's end, when it is committed.
    ///   - meanwhile: a change that does not wait.
    /// - Returns: the error of the change; nil without one.
    private static func during(
        _ script: String,
        in probe: StatementProbe,
        _ change: @escaping @Sendable () async throws -> Void,
        meanwhile: () async throws -> Void = {}
    ) async throws -> CatalogError? {
        let holder = try await PostgresConnection.connect(probe.catalog.database.writes.configuration)
        try await holder.perform { try $0.run(script: "\(StatementProbe.begin); \(script)") }
        try await meanwhile()
        let task = Task { () async throws -> CatalogError? in
            do { try await change() } catch let error as CatalogError { return error }
            return nil
        }
        try await probe.catalog.untilLockIsAwaited()
        try await holder.perform { try $0.run(script: "COMMIT") }
        await holder.close()
        return try await task.value
    }

    @Test("An operand cannot be deleted while a store declares a ratio that uses it")
    func ratioDuringDeletion() async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            try await Self.declare(Self.number, Self.protein, for: .deployment, in: catalog)
            let ratio = #"{"type":"ratio","numerator":"price","denominator":["protein"]}"#
            let error = try await Self.during(Self.declaringInShop(Self.rating, ratio), in: probe) {
                try await catalog.attributes.remove(attribute: Self.protein, of: .deployment)
            }
            guard case .conflict(let reason)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(reason.contains("rating") && reason.contains("protein"))
        }
    }

    @Test("The deployment cannot declare another type than a store that declares the same attribute at the same time")
    func contradiction() async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            let error = try await Self.during(Self.declaringInShop(Self.rating, Self.number), in: probe) {
                try await Self.declare(#"{"type":"text"}"#, Self.rating, for: .deployment, in: catalog)
            }
            guard case .conflict(let reason)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(reason.contains("shop"))
        }
    }

    @Test("Titles are refused if the deployment deletes their attribute at the same time")
    func titlesDuringDeletion() async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            try await Self.declare(Self.number, Self.rating, for: .deployment, in: catalog)
            let deletion = Self.changingDeployment + "DELETE FROM attribute WHERE name = 'rating'"
            let error = try await Self.during(deletion, in: probe) {
                try await Self.declare(#"{"title":{"en":"Own"}}"#, Self.rating, for: .store(Self.shop), in: catalog)
            }
            guard case .unprocessable("type", _)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(try await probe.rows("SELECT name FROM store_attribute").isEmpty)
        }
    }

    @Test("The deployment and a store together cannot exceed 64 attributes at the same time")
    func countDuringDeclaration() async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            let rows = (0..<63).map { "('n\($0)', '\(Self.number)')" }.joined(separator: ",")
            try await probe.run("INSERT INTO attribute (name, document) VALUES \(rows)")
            let error = try await Self.during(Self.declaringInShop(Self.rating, Self.number), in: probe) {
                try await Self.declare(Self.number, Self.protein, for: .deployment, in: catalog)
            }
            guard case .conflict(let reason)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(reason.contains("shop") && reason.contains("64"))
        }
    }

    @Test("A change of the same declaration waits, and compares with what it finds then", arguments: [false, true])
    func sameDeclaration(_ isOfStore: Bool) async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            let owner: DeclarationOwner = isOfStore ? .store(Self.shop) : .deployment
            try await Self.declare(Self.number, Self.rating, for: owner, in: catalog)
            let change =
                isOfStore
                ? "SELECT FROM store_state WHERE store_id = 1 FOR NO KEY UPDATE; DELETE FROM store_attribute WHERE store_id = 1"
                : Self.changingDeployment + "DELETE FROM attribute"
            let error = try await Self.during(change, in: probe) {
                try await catalog.attributes.remove(attribute: Self.rating, of: owner)
            }
            #expect(error == .unknownAttribute(Self.rating, of: owner))
        }
    }

    @Test("Writes of products wait for no declaration")
    func productsDoNotWait() async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            func put(_ rating: String) async throws {
                let product = Product(sku: SKU("p")!, name: "P", attributes: "{\"rating\":\(rating)}")
                _ = try await catalog.products.put(product, in: Self.shop)
            }
            let declaration = Self.declaringInShop(Self.rating, #"{"type":"boolean"}"#)
            _ = try await Self.during(declaration, in: probe) {
                try await Self.declare(Self.number, Self.protein, for: .deployment, in: catalog)
            } meanwhile: {
                // The declaration is not committed, so it is not in effect.
                try await put("4.5")
            }
            do {
                try await put("4.6")
                Issue.record("a value of another type was stored")
            } catch CatalogError.unprocessable {}
            _ = try await Self.during(Self.changingDeployment, in: probe) {
                try await Self.declare(Self.number, Self.rating, for: .store(Self.kiosk), in: catalog)
            } meanwhile: {
                try await put("true")
            }
        }
    }

    @Test("Declarations of stores wait for each other on Citus only, which locks small tables as a whole")
    func otherStores() async throws {
        try await StatementProbe.run { probe in
            let catalog = probe.catalog
            let declaration = Self.declaringInShop(Self.rating, #"{"type":"boolean"}"#)
            @Sendable func declareInKiosk() async throws {
                try await Self.declare(Self.number, Self.rating, for: .store(Self.kiosk), in: catalog)
            }
            if CitusServers.prefix == nil {
                _ = try await Self.during(declaration, in: probe) {
                    try await Self.declare(Self.number, Self.protein, for: .deployment, in: catalog)
                } meanwhile: {
                    try await declareInKiosk()
                }
            } else {
                #expect(try await Self.during(declaration, in: probe, declareInKiosk) == nil)
            }
            for (store, type) in [(Self.shop, "boolean"), (Self.kiosk, "number")] {
                let attributes = try await catalog.attributes.attributes(of: .store(store))
                #expect(attributes[Self.rating]?.definition.form.typeName == type)
            }
        }
    }
}
