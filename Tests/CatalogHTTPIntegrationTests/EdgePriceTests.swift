import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import LibPQ
import NIOCore
import Testing
import TestSupport

/// Minimum and maximum prices and sizes, in every unit, under every rule set and currency exponent: imported,
/// served, sorted, filtered and diffed. PostgreSQL's exact `numeric` is the oracle of the shown values.
@Suite(.timeLimit(.minutes(15))) struct EdgePriceTests {
    private static let currencies = ["JPY", "EUR", "KWD"]
    private static let prices: [Int64?] = [nil, 0, 1, 115_063_156_801, 115_063_156_802, 999_999_999_999]

    /// The minimum and maximum amounts of a unit.
    private static func amounts(_ unit: MeasureUnit) -> [String] {
        let bounds = Size.quantityRange
        let candidates = [
            "0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10", "1000", "1000000", "1000000000", "99999.99999",
        ]
        let fitting = candidates.filter { text in
            guard let amount = ExactDecimal(text), let quantity = amount.multiplied(by: unit.factor) else {
                return false
            }
            return bounds.contains(quantity) && quantity.scale <= Size.quantityScale
        }
        return Array(Set([fitting.first, fitting.last].compactMap { $0 })).sorted()
    }

    private static func products(_ currency: Currency) -> [String] {
        var lines: [String] = []
        for unit in MeasureUnit.allCases {
            for amount in amounts(unit) {
                for price in prices {
                    var fields = ["\"sku\":\"\(unit.rawValue)-\(amount)-\(price.map(String.init) ?? "none")\""]
                    fields.append("\"name\":\"\(unit.rawValue) \(amount)\",\"shelf\":\"edges\"")
                    fields.append("\"size\":\"\(amount)\",\"unit\":\"\(unit.rawValue)\"")
                    if let price { fields.append("\"price\":\"\(currency.decimal(price))\"") }
                    lines.append("{\(fields.joined(separator: ","))}")
                }
            }
        }
        return lines
    }

    @Test("A page shows the store's new rules after they change, also if only its first request confirms them")
    func showsChangedRules() async throws {
        try await TestAPI.withServer { client, catalog in
            let (store, shelf, sku) = (CatalogKey("s")!, CatalogKey("x")!, SKU("a")!)
            var rules = Store(key: store, title: "S", currency: Currency("EUR")!)
            _ = try await catalog.shelves.put(rules)
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X"), in: store)
            var product = Product(sku: sku, name: "A", priceMinor: 199)
            product.size = try Size(amount: ExactDecimal("250")!, unit: .g)
            _ = try await catalog.products.put(product, in: store)
            _ = try await catalog.products.place(sku, on: shelf, in: store)
            func unit(_ limit: Int) async throws -> JSONValue? {
                let response = try await client.execute(
                    uri: "/v1/stores/s/shelves/x/products?limit=\(limit)",
                    method: .get
                )
                let page = try JSONReader.parse(Array(buffer: response.body))
                return page["products"]?.elements?.first?["unit_price"]?["per"]
            }
            #expect(try await unit(1) == .string("1 kg"))
            rules.unitPricing = .us
            _ = try await catalog.shelves.put(rules)
            // A page that is not in the cache, planned from the old rules.
            for _ in 0..<2 { #expect(try await unit(2) == .string("1 lb")) }
            #expect(try await unit(1) == .string("1 lb"))
        }
    }

    @Test("Extreme prices and sizes are imported, served, sorted, filtered and diffed", arguments: currencies)
    func everyCombination(_ code: String) async throws {
        let currency = try #require(Currency(code))
        try await TestAPI.withServer { client, catalog in
            for rules in UnitPricing.allCases {
                let store = "/v1/stores/\(rules.rawValue)"
                let put = try await client.execute(
                    uri: store,
                    method: .put,
                    headers: [.contentType: "application/json"],
                    body: .init(string: #"{"title":"t","currency":"\#(code)","unit_pricing":"\#(rules.rawValue)"}"#)
                )
                #expect(put.status == .created)
                let lines = Self.products(currency)
                let imported = try await client.execute(
                    uri: store + "/imports",
                    method: .post,
                    headers: [.contentType: "application/x-ndjson"],
                    body: .init(string: lines.joined(separator: "\n") + "\n")
                )
                let summary = try JSONReader.parse(Array(buffer: imported.body))
                #expect(imported.status == .ok, "\(summary.text)")
                #expect(summary["inserted"] == .number("\(lines.count)"), "\(summary.text)")
                try await read(client, store, lines.count)
                try await compare(client, catalog, store, rules, currency)
            }
        }
    }

    /// Reads the shelf through every endpoint that computes with prices and sizes.
    private func read(_ client: any TestClient, _ store: String, _ count: Int) async throws {
        let shelf = store + "/shelves/edges"
        for sort in ["price", "-price", "unit_price", "-unit_price", "name"] {
            var seen = 0
            var next: String? = "\(shelf)/products?sort=\(sort)&limit=100&facets=price,in_stock,brand"
            for _ in 0..<100 {
                guard let uri = next else { break }
                let page = try await client.execute(uri: uri, method: .get)
                #expect(page.status == .ok, "\(uri)")
                let body = try JSONReader.parse(Array(buffer: page.body))
                guard case .array(let products)? = body["products"] else { break }
                seen += products.count
                if case .string(let cursor)? = body["page"]?["next_cursor"] {
                    next = "\(shelf)/products?limit=100&cursor=\(cursor)"
                } else {
                    next = nil
                }
            }
            #expect(seen == count, "\(sort)")
        }
        for query in [
            "products?sort=price&price_min=0&price_max=999999999999",
            "products?sort=unit_price&unit_price_max=0.001/100g",
            "products?sort=-price&unit_price_max=999999999/kg", "order?sort=-unit_price",
            "order/diff?from_sort=price&to_sort=-unit_price&limit=50", "order/diff?from_sort=unit_price&to_sort=price",
        ] {
            let response = try await client.execute(uri: "\(shelf)/\(query)", method: .get)
            #expect(
                response.status == .ok || response.status == .badRequest,
                "\(query): \(String(buffer: response.body))"
            )
        }
    }

    /// Compares each shown unit price with PostgreSQL's result for the same fraction.
    private func compare(
        _ client: any TestClient,
        _ catalog: PostgresCatalog,
        _ store: String,
        _ rules: UnitPricing,
        _ currency: Currency
    ) async throws {
        let lines = try Self.products(currency).map { try JSONReader.parse(Array($0.utf8)) }
        let skus = lines.compactMap { $0["sku"]?.string.flatMap { SKU($0) } }
        var stored: [Product] = []
        for start in stride(from: 0, to: skus.count, by: 100) {
            let some = Array(skus[start...].prefix(100))
            stored += try await catalog.products.products(CatalogKey(rules.rawValue)!, some).products
        }
        #expect(Set(stored.map(\.sku)) == Set(skus) && stored.count == lines.count)
        var shown: [(value: String, price: Int64, quantity: String, reference: String, decimals: Int)] = []
        for product in stored {
            guard let price = product.priceMinor, let size = product.size else { continue }
            let display = try #require(
                rules.display(priceMinor: price, size: size, currency: currency),
                "\(product.sku)"
            )
            let decimals = display.value.split(separator: ".").dropFirst().first?.count ?? 0
            let reference = rules.reference(for: size.unit.dimension).quantity.description
            shown.append((display.value, price, size.baseQuantity.description, reference, decimals))
        }
        let rows = shown
        let unit = Int64(currency.unit)
        let expected = try await catalog.database.writes.perform(within: .bulk) { database in
            // Enough digits that double rounding cannot matter; half away from zero, as for money.
            try database.query(
                """
                SELECT round(p::numeric(80, 40) * r::numeric / (q::numeric * $5), d::integer)::text
                FROM unnest($1, $2, $3, $4) WITH ORDINALITY AS t (p, q, r, d, number) ORDER BY number
                """,
                [
                    .int8Array(rows.map(\.price)), .textArray(rows.map(\.quantity)), .textArray(rows.map(\.reference)),
                    .int8Array(rows.map { Int64($0.decimals) }), .int8(unit),
                ]
            ) { try $0.map { try $0.text(0) } }
        }
        #expect(rows.map(\.value) == expected)
    }
}
