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

    /// With a filter that keeps a tenth of the products or more, a page reads at most 20 times its rows.
    @Test("Common filters read at most 20 times the page")
    func commonFiltersReadFewRows() async throws {
        let database = try await TestDatabase.migrated()
        let catalog = PostgresCatalog(try Database(database.configuration))
        try await CatalogGenerator(shelves: 1, products: 100_000, seed: 5).run(catalog.database.writes.pool)
        try await catalog.database.writes.perform { try $0.run(script: "VACUUM ANALYZE placement") }
        let head = try await catalog.shelf(Self.store, Self.shelf)
        let wide = PageRequest(store: Self.store, shelf: Self.shelf, sort: .system, facets: [.brand, .price])
        // Under a sanitizer, the first count can take longer than a request may; the next one finds it.
        for _ in 0..<20 {
            if (try? await catalog.page(wide)) != nil { break }
        }
        let counted = try await catalog.page(wide)
        let facets = try #require(counted.facets)
        // Filters that keep about a tenth: a brand, and the cheapest and most expensive tenths.
        var (brands, kept) = ([String](), 0)
        for brand in facets.brands.reversed() where kept < 10_000 && !brand.value.isEmpty {
            brands.append(brand.value)
            kept += brand.count
        }
        func price(_ share: Int) -> String {
            var below = 0
            let found = facets.prices.first {
                below += $0.count; return below >= share * facets.total / 100
            }
            return Currency("EUR")!.decimal(found!.minor)
        }
        let filters: [[FilterKey: [String]]] = [
            [.inStock: ["true"]], [.brand: Array(brands.prefix(Filter.valueLimit))], [.priceMax: [price(12)]],
            [.priceMin: [price(45)], .priceMax: [price(57)]], [.inStock: ["true"], .priceMin: [price(50)]],
        ]
        for values in filters {
            let filter = try Filter { values[$0] ?? [] }!
            // The unit price depends on the price: if there is no price, there is no unit price.
            for sort in Sort.allSingle where sort.terms[0].key != .unitPrice || filter[.priceMin] == filter[.priceMax] {
                var request = PageRequest(store: Self.store, shelf: Self.shelf, sort: sort, filter: filter)
                var read: [Int] = []
                for _ in 0..<3 {
                    let plan = try request.plan(for: head)
                    let lines = Self.withoutGeneration(try await Self.explain(catalog, plan, head))
                    read.append(Self.rowsRead(lines))
                    let page = try await catalog.page(request)
                    request.after = page.next
                    if page.next == nil { break }
                }
                // The order of another table reads two rows per product: one of the table, and the placement.
                let rows = read.max()! / (sort.terms[0].key.table == SortKey.price.table ? 1 : 2)
                #expect(rows <= 20 * 25, "\(sort.description) where \(filter.query)")
            }
        }
        // A probe reads few rows of the filter's index, and nothing else.
        let probed: [FilterKey: [String]] = [
            .brand: [brands[0], "nobody"], .priceMin: [price(50)], .priceMax: [price(50)],
            .createdAfter: ["2020-01-01T00:00:00Z"], .createdBefore: ["2020-01-01T00:00:00Z"],
            .modifiedAfter: ["2020-01-01T00:00:00Z"], .unitPriceMax: ["0.01/kg"],
        ]
        for (key, values) in probed {
            let filter = try Filter { $0 == key ? values : [] }!
            let request = PageRequest(store: Self.store, shelf: Self.shelf, sort: .system, filter: filter)
            let plan = try request.plan(for: head)
            #expect(ProbeStatement.keys(of: filter) == [key])
            let probe = catalog.pages.memory.statement(ProbeStatement.Shape(key, filter, limit: 1001))
            let query = PostgresQuery(probe.statement, probe.parameters(plan, head.location))
            let lines = try await catalog.database.writes.perform { try Self.explain(query, $0) }
            #expect(Self.rowsRead(lines) <= 2 * 1001 + 10, "\(key.name): \(lines.joined(separator: "\n"))")
        }
        // Facets of a shelf that was counted before read the products that changed since, and no others.
        try await catalog.setPrices([PriceChange(sku: counted.products[0].sku, priceMinor: 7)], in: Self.store)
        let changes = PostgresQuery(
            FacetStatements.changedProducts,
            [
                .int4(head.location.storeID), .int4(head.location.shelfID),
                .timestamptz(head.state.modifiedAt.microseconds), .int8(1000),
            ]
        )
        let changed = try await catalog.database.writes.perform { try Self.explain(changes, $0) }
        #expect(Self.rowsRead(changed) <= 4, "\(changed.joined(separator: "\n"))")
        // A filter that keeps few is read along its own index: here, a brand that no product has, and the highest prices.
        let dear = try #require(facets.prices.last)
        for (values, kept) in [
            ([FilterKey.brand: ["nobody"]], 0), ([.priceMin: [Currency("EUR")!.decimal(dear.minor)]], dear.count),
        ] {
            let filter = try Filter { values[$0] ?? [] }!
            for sort in Sort.allSingle where sort.respectsAvailability {
                let request = PageRequest(store: Self.store, shelf: Self.shelf, sort: sort, filter: filter)
                let plan = try request.plan(for: head)
                let rows = Self.rowsRead(try await Self.explain(catalog, plan, head, access: .scan))
                // The rows of each range that is read, and the brands. By unit price, an availability has a range for each dimension.
                let times = sort.terms[0].key.isGroupedByDimension ? 7 : 2
                #expect(rows <= times * kept + 25, "\(sort.description) where \(filter.query)")
            }
        }
        catalog.shutDown()
        try await database.drop()
    }

    /// Returns the number of rows that the scans of a plan read.
    private static func rowsRead(_ lines: [String]) -> Int {
        func number(_ line: String, after mark: String) -> Int? {
            line.ranges(of: mark).last.flatMap { Int(line[$0.upperBound...].prefix { $0.isNumber }) }
        }
        var (isScan, loops) = (false, 1)
        return lines.reduce(0) { sum, line in
            if line.contains("(actual") || line.contains("never executed") {
                isScan = line.contains("Scan") && !line.contains("Subquery Scan")
                loops = number(line, after: "loops=") ?? 1
                return sum + (isScan ? (number(line, after: "rows=") ?? 0) * loops : 0)
            }
            return sum + (isScan ? (number(line, after: "Rows Removed by Filter: ") ?? 0) * loops : 0)
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
        _ head: ShelfHead,
        access: PageStatement.Access = .walk
    ) async throws -> [String] {
        // Like a page: range by range until there are enough rows.
        var shape = PageStatement.Shape(plan)
        shape.access = access
        let statement = catalog.pages.memory.statement(shape)
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
