import Catalog
import Foundation
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Statements on a catalog that misleads the planner: many stores, one of them with over 1,000 shelves, and one large shelf.
///
/// The planner takes the ids of stores and shelves for independent of each other, and expects about one product on each shelf. A join
/// that reads a shelf once for each of its products then costs no more than any other join, by its estimates.
@Suite(.timeLimit(.minutes(10))) struct SkewedPlanTests {
    /// The statistics that the planner has: none; the sizes of tables and which pages are visible to all; these and the values of short
    /// tables; or all.
    enum Statistics: String, CaseIterable {
        case none, sizes, short, current
    }

    @Test("No fixed statement reads a shelf once per product", arguments: Statistics.allCases)
    func fixedStatementsReadShelvesOnce(statistics: Statistics) async throws {
        var statements = StatementRegistry.statements.flatMap { name, all in all.map { (name, $0) } }
        for flag in [true, false] {
            let columns = WrittenColumns(Set(ImportColumn.allCases), readsSizeFromName: flag)
            statements.append(
                ("ImportStatements.upsertProducts", ImportStatements.upsertProducts(columns, hasRepeats: flag))
            )
            let dropping = ImportStatements.dropUnchanged(columns) + ImportStatements.dropUnchangedAgain(columns)
            statements += dropping.map { ("ImportStatements.dropUnchanged", $0) }
        }
        statements.removeAll { StatementTests.unprepared.contains($0.0) || Self.other.contains($0.0) }
        let found = try await Self.repeatedReads(
            statements.map { ($0.0, $0.1, StatementTests.types[$0.0]) },
            statistics
        )
        #expect(statements.count > 200)
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }

    /// Statements that join something else than products: locks, of which there are few.
    private static let other: Set<String> = ["DistributionStatements.movesShard"]
    /// Statements that the importer runs with hash joins.
    private static let hashed: Set<String> = [
        "ImportStatements.applyLastRows", "ImportStatements.dropRepeated", "ImportStatements.rowsOfProducts",
        "ImportStatements.stalePlacements",
        "ImportStatements.staleProducts", "ImportStatements.unplacedProducts", "ImportStatements.shelvesOfFile",
    ]

    @Test("Products are found by the index of barcodes")
    func barcodesHaveAnIndex() async throws {
        let (database, connection) = try await Self.open(.current)
        let plan = try await connection.perform(within: .seconds(60)) { connection in
            try connection.run(
                script: """
                    UPDATE product SET barcode = (200000000000 + hashtext(sku))::text WHERE hashtext(sku) % 2 = 0;
                    ANALYZE product;
                    """
            )
            return try Self.genericPlan(of: PostgresProductStore.productsByBarcode, types: nil, connection)
        }
        await connection.close()
        try await database.drop()
        #expect(plan.contains("product_by_barcode"), "\(plan)")
    }

    // MARK: - Plans

    /// Opens a database of its own with the catalog.
    private static func open(_ statistics: Statistics) async throws -> (TestDatabase, PostgresConnection) {
        let database = try await TestDatabase.migrated()
        let connection = try await PostgresConnection.connect(database.configuration)
        try await connection.perform(within: .seconds(60)) { try fill($0, statistics) }
        return (database, connection)
    }

    /// Returns the statements whose generic plans read a shelf, or a list of products, once per product.
    private static func repeatedReads(
        _ statements: [(name: String, statement: PostgresStatement, types: String?)],
        _ statistics: Statistics
    ) async throws -> [String] {
        let (database, connection) = try await open(statistics)
        let found = try await connection.perform(within: .seconds(300)) { connection in
            var found: [String] = []
            for (name, statement, types) in statements {
                let loops = hashed.contains(name) ? "off" : "on"
                try connection.run(script: "SET enable_nestloop = \(loops)")
                for setting in ["on", "off"] {
                    try connection.run(script: "SET enable_seqscan = \(setting)")
                    do {
                        let plan = try genericPlan(of: statement, types: types, connection)
                        let problems = PlanNode(plan).problems
                        found += problems.map { "\(name) (enable_seqscan = \(setting)): \($0)" }
                    } catch let error as PostgresError {
                        found.append("\(name): \(error.message)\n\(statement.sql)")
                    }
                }
            }
            return found
        }
        await connection.close()
        try await database.drop()
        return found
    }

    /// Creates 15 stores of 5 shelves with 40 products each; the first has 1,100 shelves, and 12,000 products on its first.
    private static func fill(_ connection: isolated PostgresConnection, _ statistics: Statistics) throws {
        try connection.run(
            script: """
                DO $$
                DECLARE
                    name regclass;
                BEGIN
                    FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace LOOP
                        EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name);
                    END LOOP;
                END $$;
                INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
                    popularity_half_life_days, newcomer_boost)
                OVERRIDING SYSTEM VALUE
                SELECT n, 'store-' || n, 'Store', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0 FROM generate_series(1, 15) n;
                INSERT INTO store_state (store_id, counted_metric, counted_half_life_days, counted_newcomer_boost)
                SELECT store_id, 'decay', 14, 0 FROM store;
                INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at)
                SELECT s, h, 'shelf-' || h, 'Shelf', '', int4send(h), now()
                FROM generate_series(1, 15) s CROSS JOIN LATERAL generate_series(1, CASE s WHEN 1 THEN 1100 ELSE 5 END) h;
                CREATE TEMPORARY TABLE layout AS
                SELECT h.store_id, h.shelf_id, n, h.shelf_id || '-' || n AS sku FROM shelf h
                CROSS JOIN LATERAL generate_series(1, CASE WHEN h.store_id > 1 THEN 40 WHEN h.shelf_id = 1 THEN 12000 ELSE 3 END) n;
                INSERT INTO product (store_id, sku, name, brand, name_key, brand_key, price_minor, tags, in_stock, created_at, modified_at)
                SELECT store_id, sku, 'Product ' || n, 'Brand ' || n % 30, int4send(n), int4send(n % 30), n % 500, ARRAY['tag ' || n % 7],
                    n % 10 > 0, now(), now() FROM layout;
                INSERT INTO placement (store_id, shelf_id, sku, popularity_log2) SELECT store_id, shelf_id, sku, n % 90 FROM layout;
                INSERT INTO placement_position (store_id, shelf_id, sku, key) SELECT store_id, shelf_id, sku, int4send(n) FROM layout;
                CREATE FUNCTION pg_temp.plan(query text) RETURNS text LANGUAGE plpgsql AS $$
                DECLARE
                    plan json;
                BEGIN
                    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
                    RETURN plan::text;
                END $$;
                SET plan_cache_mode = force_generic_plan;
                SET jit = off;
                SET max_parallel_workers_per_gather = 0;
                """
        )
        switch statistics {
        case .none: break
        case .sizes: try connection.run(script: "VACUUM")
        case .short:
            try connection.run(script: "VACUUM")
            try connection.run(script: "ANALYZE store, shelf, store_state")
        case .current: try connection.run(script: "VACUUM ANALYZE")
        }
    }

    /// Returns the plan of a statement for any parameters, as JSON.
    private static func genericPlan(
        of statement: PostgresStatement,
        types: String?,
        _ connection: isolated PostgresConnection
    ) throws -> String {
        defer { try? connection.run(script: "DEALLOCATE checked") }
        let declared = types.map { $0.isEmpty ? "" : "(\($0)) " } ?? ""
        try connection.run(script: "PREPARE checked \(declared)AS \(statement.sql)")
        let count = try connection.query(
            "SELECT cardinality(parameter_types)::bigint FROM pg_prepared_statements WHERE name = 'checked'"
        ) {
            try $0.first { try $0.int(0) }!
        }
        let arguments = count == 0 ? "" : "(\(Array(repeating: "NULL", count: count).joined(separator: ", ")))"
        return try connection.query("SELECT pg_temp.plan($1)", [.text("EXECUTE checked\(arguments)")]) {
            try $0.first { try $0.text(0) }!
        }
    }
}

/// A node of a plan that EXPLAIN returns as JSON.
private struct PlanNode {
    private static let products: Set<String> = [
        "placement", "placement_position", "product", "import_row", "shelf_change",
    ]

    private let fields: [String: Any]
    private let children: [PlanNode]

    init(_ json: String) {
        let value = try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]]
        self.init(fields: value?.first?["Plan"] as? [String: Any] ?? [:])
    }

    private init(fields: [String: Any]) {
        self.fields = fields
        children = (fields["Plans"] as? [[String: Any]] ?? []).map { PlanNode(fields: $0) }
    }

    private subscript(_ name: String) -> String { fields[name] as? String ?? "" }

    /// The joins that read a shelf or a list for each of many rows, and the scans that read a shelf to find one product.
    var problems: [String] {
        var found = children.flatMap(\.problems)
        if isScanOfProducts, !isByKey, self["Filter"].contains("sku = ") { found.append("a product in \(summary)") }
        if isScanOfProducts, !isByKey, self["Filter"].contains("shelf_id + 0") { found.append("a shelf in \(summary)") }
        if self["Node Type"] == "Nested Loop", let outer = child("Outer"), let inner = child("Inner"), outer.hasManyRows
        {
            found += inner.wholeReads.map { "\(outer.summary) × \($0.summary)" }
        }
        if hasManyRows || self["Node Type"] == "ModifyTable" {
            for part in children where part["Parent Relationship"] == "SubPlan" && !isHashed(part) {
                found += part.wholeReads.map { "\(summary) × sub-plan \($0.summary)" }
            }
        }
        return found
    }

    private func child(_ relationship: String) -> PlanNode? {
        children.first { $0["Parent Relationship"] == relationship }
    }

    private func isHashed(_ part: PlanNode) -> Bool {
        let name = part["Subplan Name"]
        return part["Node Type"] == "CTE Scan" || name.hasPrefix("CTE ")
            || fields.values.contains { ($0 as? String)?.contains("hashed \(name)") == true }
    }

    /// Whether the node may return a row per product: it reads products without their key, or a list.
    private var hasManyRows: Bool {
        if self["Node Type"] == "Aggregate", self["Strategy"] == "Plain" { return false }
        if isListed || (isScanOfProducts && !isByKey) { return true }
        return children.contains { !["InitPlan", "SubPlan"].contains($0["Parent Relationship"]) && $0.hasManyRows }
    }

    /// The scans of this node that read all products of a shelf or of a list.
    private var wholeReads: [PlanNode] {
        if self["Node Type"] == "Limit" { return [] }
        let own = (isScanOfProducts && !isByKey) || (isListed && !isOfRow) ? [self] : []
        return own + children.filter { $0["Parent Relationship"] != "InitPlan" }.flatMap(\.wholeReads)
    }

    private var isScanOfProducts: Bool { Self.products.contains(self["Relation Name"]) }
    /// Lists of shelves, brands and availabilities, which are short.
    private static let shortLists: Set<String> = ["touched", "b", "g", "a"]
    private var isListed: Bool {
        !Self.shortLists.contains(self["Alias"])
            && ["Function Scan", "CTE Scan", "Values Scan", "WorkTable Scan"].contains(self["Node Type"])
    }
    /// Whether a function's rows are those of a column of the outer row.
    private var isOfRow: Bool { self["Alias"] == "t" && self["Function Name"] == "unnest" }
    /// Whether the index finds single products.
    private var isByKey: Bool {
        self["Index Cond"].contains("sku = ") || self["Index Cond"].contains("sku) = ")
            || children.contains { $0.isByKey && $0["Node Type"] == "Bitmap Index Scan" }
    }
    private var summary: String {
        let scans = isScanOfProducts || isListed ? [self] : children.flatMap(\.scans)
        return scans.map { "\($0["Node Type"]) \($0["Alias"]) \($0["Index Name"]) \($0["Index Cond"])" }.joined(
            separator: ", "
        )
    }
    private var scans: [PlanNode] { isScanOfProducts || isListed ? [self] : children.flatMap(\.scans) }
}
