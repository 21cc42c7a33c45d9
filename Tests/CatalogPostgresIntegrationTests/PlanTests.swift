import CatalogJSON
import Catalog
import LibPQ
import Schema
import TestSupport
import Testing

@testable import CatalogPostgres

/// Every page is read from its sort's index without extra rows.
@Suite(.timeLimit(.minutes(15))) struct PlanTests {
    private static let store = CatalogKey(CatalogGenerator.store)!
    private static let shelf = CatalogKey("shelf-1")!

    @Test("Each single-key sort reads its index from every cursor, without sorting")
    func singleKeySortsUseIndexes() async throws {
        let database = try await TestDatabase.migrated()
        let catalog = PostgresCatalog(try Database(database.configuration))
        try await CatalogGenerator(shelves: 20, products: 20_000, seed: 5).run(catalog.database.writes.pool)
        // Removed placements are not relevant.
        try await catalog.database.writes.perform {
            try $0.execute(
                "UPDATE placement_position SET removed_at = now() WHERE hashtext(sku) % 3 = 0 AND shelf_id = (SELECT min(shelf_id) FROM shelf)"
            )
            for table in ["placement", "placement_popularity"] as [SQL] {
                try $0.execute(
                    "DELETE FROM \(table) p USING placement_position o WHERE o.store_id = p.store_id AND o.shelf_id = p.shelf_id AND o.sku = p.sku AND o.removed_at IS NOT NULL"
                )
            }
            try $0.run(script: "ANALYZE")
        }
        let head = try await catalog.shelf(Self.store, Self.shelf)
        for sort in Sort.allSingle {
            for cursor in try await Self.cursors(catalog, sort) {
                var request = PageRequest(store: Self.store, shelf: Self.shelf, sort: sort)
                request.after = cursor
                let plan = try request.plan(for: head)
                let lines = Self.withoutGeneration(try await Self.explain(catalog, plan, head))
                let place = "\(sort.description) after \(cursor?.id ?? "nothing")"
                #expect(!lines.contains { $0.contains("Sort Key") }, "\(place): sorts")
                let index = sort.terms[0].key.index
                #expect(lines.contains { $0.contains("using \(index) ") }, "\(place): \(lines.joined(separator: "\n"))")
                let removed = lines.compactMap { line in
                    line.split(separator: "Rows Removed by Filter: ").last.flatMap {
                        line.contains("Rows Removed") ? Int($0) : nil
                    }
                }
                #expect(removed.reduce(0, +) == 0, "\(place): filters")
                #expect(!lines.contains { $0.contains("Seq Scan") }, "\(place): scans")
            }
        }
        catalog.shutDown()
        try await database.drop()
    }

    @Test("Every sort key has the index of its definition")
    func indexesMatchTheDefinitions() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let found = try await catalog.database.writes.perform {
                try $0.query("SELECT pg_get_indexdef(i.indexrelid, 0, true) FROM pg_index i") {
                    try $0.map { try $0.text(0) }
                }
            }
            let definitions = Set(
                found.map { $0.replacing(" USING btree", with: "").replacing("ON public.", with: "ON ") }
            )
            for key in SortKey.allCases {
                #expect(definitions.contains(key.indexDefinition), "\(key.name)")
            }
        }
    }

    /// Returns a plan without the lookup of the shelf's key generation: the table of shelves is small here,
    /// and scanned.
    private static func withoutGeneration(_ lines: [String]) -> [String] {
        var isOwnRow = false
        return lines.filter { line in
            if line.contains(" on ") { isOwnRow = line.contains(" on shelf g ") }
            return !isOwnRow
        }
    }

    /// Returns cursors at the start and after pages of all kinds: available and sold out, with and without a value.
    private static func cursors(_ catalog: PostgresCatalog, _ sort: Sort) async throws -> [Cursor?] {
        var cursors: [String: Cursor] = [:]
        var request = PageRequest(store: store, shelf: shelf, sort: sort, limit: 7)
        while let next = try await catalog.page(request).next {
            let group: String =
                switch next.values[0] {
                case .missing: "missing"
                case .unitPrice(let dimension, _): dimension.rawValue
                default: "present"
                }
            cursors["\(next.isSoldOut) \(group)"] = next
            request.after = next
        }
        return [nil] + cursors.values.map { $0 }
    }

    private static func explain(
        _ catalog: PostgresCatalog,
        _ plan: PagePlan,
        _ head: ShelfHead
    ) async throws -> [String] {
        // Like a page: range by range until there are enough rows.
        let statement = catalog.pages.memory.statement(PageStatement.Shape(plan))
        return try await catalog.database.writes.perform { database in
            var (lines, missing): ([String], Int) = ([], 25)
            for range in statement.ranges.indices where missing > 0 {
                let found = try explain(statement.query(range, plan, head, limit: missing), database)
                lines += found
                missing -= found.first.map(Self.rowsReturned) ?? 0
            }
            return lines
        }
    }

    /// Returns the plan that a query has for any parameters, run with these.
    private static func explain(
        _ query: PostgresQuery,
        _ database: isolated PostgresConnection
    ) throws -> [String] {
        let (types, literals) = (query.parameters.map(\.typeName), query.parameters.map(\.literal))
        let arguments = literals.isEmpty ? "" : " (\(literals.joined(separator: ", ")))"
        try database.run(script: "SET plan_cache_mode = force_generic_plan")
        try database.run(script: "PREPARE page (\(types.joined(separator: ", "))) AS \(query.statement.sql)")
        defer { try? database.run(script: "DEALLOCATE page") }
        let explain: PostgresStatement =
            "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE page\(SQL(unchecked: arguments))"
        return try database.query(explain) { try $0.map { try $0.text(0) } }
    }

    /// Returns the number of rows of a plan's top node.
    private static func rowsReturned(_ line: String) -> Int {
        line.ranges(of: "rows=").last.flatMap { Int(line[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
    }
}

extension PostgresValue {
    fileprivate var typeName: String {
        switch self {
        case .bool: "boolean"
        case .int2: "smallint"
        case .int4: "integer"
        case .int8: "bigint"
        case .float8: "double precision"
        case .bytea: "bytea"
        case .numeric: "numeric"
        case .timestamptz: "timestamptz"
        case .textArray: "text[]"
        case .int8Array: "bigint[]"
        default: "text"
        }
    }

    fileprivate var literal: String {
        switch self {
        case .int2(let value?): String(value)
        case .int4(let value?): String(value)
        case .int8(let value?): String(value)
        case .float8(let value?): value == -.infinity ? "'-Infinity'" : "\(value)"
        case .text(let value?): "'\(value.replacing("'", with: "''"))'"
        case .numeric(let value?): value
        case .bytea(let value?): "'\\x\(value.hexadecimal)'"
        case .timestamptz(let value?): "'\(Timestamp(microseconds: value).rfc3339)'"
        case .textArray(let values):
            "ARRAY[" + values.map { "'\($0.replacing("'", with: "''"))'" }.joined(separator: ", ") + "]"
        case .int8Array(let values):
            "ARRAY[" + values.map { $0.map { String($0) } ?? "NULL" }.joined(separator: ", ") + "]"
        default: "NULL"
        }
    }
}
