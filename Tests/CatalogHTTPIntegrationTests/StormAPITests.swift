import Catalog
import CatalogHTTP
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import TestSupport

/// Thousands of purchases and prices over a real socket and a real database.
@Suite(.timeLimit(.minutes(15))) struct StormAPITests {
    private static let store = CatalogKey("s")!

    private func withServer(
        _ body: @escaping @Sendable (any TestClient, PostgresCatalog) async throws -> Void
    ) async throws {
        try await TestAPI.withServer { client, catalog in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: CatalogKey("x")!, title: "X"), in: Self.store)
            for id in ["a", "b", "c"] {
                _ = try await catalog.products.put(Product(sku: SKU(id)!, name: id, priceMinor: 100), in: Self.store)
                _ = try await catalog.products.place(SKU(id)!, on: CatalogKey("x")!, in: Self.store)
            }
            try await body(client, catalog)
        }
    }

    private func post(
        _ client: any TestClient,
        _ path: String,
        _ body: String,
        _ headers: [String: String] = [:]
    ) async throws -> (status: Int, text: String) {
        var fields: HTTPFields = [.contentType: "application/json"]
        for (name, value) in headers { fields[.init(name)!] = value }
        let response = try await client.execute(
            uri: "/v1/stores/s/" + path,
            method: .post,
            headers: fields,
            body: ByteBuffer(string: body)
        )
        return (response.status.code, String(buffer: response.body))
    }

    private func event(_ number: Int, _ sku: String = "a", quantity: Int = 1, at: Timestamp = .now()) -> String {
        let digits = String(number)
        let id = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        return "{\"event_id\":\"\(id)\",\"sku\":\"\(sku)\",\"quantity\":\(quantity),\"at\":\"\(at.rfc3339)\"}"
    }

    @Test("Purchases count once, and a request is all or nothing")
    func purchasesAreAtomic()
        async throws
    {
        try await withServer { client, catalog in
            let body = "[\(event(1)),\(event(2, "b")),\(event(3, "nobody"))]"
            let first = try await post(client, "purchases", body)
            #expect(first.status == 202)
            #expect(first.text == #"{"accepted":2,"repeated":0,"too_old":0,"unknown":1,"unknown_skus":["nobody"]}"#)
            #expect(try await post(client, "purchases", body).text.contains(#""accepted":0,"repeated":3"#))
            // The same key returns the first response; another body with it is rejected.
            let key = ["Idempotency-Key": "k"]
            let once = "[\(event(4))]"
            let keyed = try await post(client, "purchases", once, key)
            #expect(try await post(client, "purchases", once, key).text == keyed.text)
            #expect(try await post(client, "purchases", "[\(event(5))]", key).status == 422)
            let now = Timestamp.now()
            for (bad, field) in [
                (event(6, at: Timestamp(microseconds: now.microseconds + 3_600_000_000)), "[1].at"),
                (event(6, quantity: 0), "[1].quantity"), (event(6, quantity: 2_000_000), "[1].quantity"),
                (event(6, ""), "[1].sku"), (event(6).replacing("4000", with: "\u{E9}"), "[1].event_id"),
                (event(6).replacing("4000", with: String(repeating: "4", count: 40)), "[1].event_id"),
                (event(6).replacing("\"quantity\":1", with: "\"quantity\":0.0001"), "[1].quantity"),
                ("7", "[1]"), (event(6).replacing("\"quantity\":1", with: "\"quantity\":\"1\""), "[1].quantity"),
            ] {
                let response = try await post(client, "purchases", "[\(event(7)),\(bad)]")
                #expect(response.status == 422, "\(bad): \(response.text)")
                #expect(response.text.contains(field), "\(bad): \(response.text)")
            }
            #expect(try await post(client, "purchases", "{}").status == 400)
            let unknownField = event(6).replacing("\"at\"", with: "\"when\"")
            #expect(try await post(client, "purchases", "[\(unknownField)]").status == 400)
            let many = "[" + (0...10_000).map { event($0) }.joined(separator: ",") + "]"
            #expect(try await post(client, "purchases", many).status == 413)
            // Slightly ahead of the server's clock is accepted.
            let ahead = event(8, at: Timestamp(microseconds: now.microseconds + 60_000_000))
            #expect(try await post(client, "purchases", "[\(ahead)]").status == 202)

            let summary = try await Resorter(catalog).run(ResortRequest())
            #expect(summary.events == 4)
            let page = try await client.execute(uri: "/v1/stores/s/shelves/x/products", method: .get)
            let text = String(buffer: page.body)
            #expect(text.contains(#""popularity":3"#))
            #expect(text.contains("\"as_of\":\"\(Timestamp.date(ofDay: now.day))\""))
            #expect(text.firstRange(of: "\"sku\":\"a\"")!.lowerBound < text.firstRange(of: "\"sku\":\"b\"")!.lowerBound)
        }
    }

    @Test("A request sets all of its prices or none")
    func pricesAreAtomic() async throws {
        try await withServer { client, catalog in
            func version() async throws -> Int64 {
                try await catalog.shelves.shelf(Self.store, CatalogKey("x")!).state.version
            }
            let before = try await version()
            let body = #"[{"sku":"a","price_minor":50,"regular_price_minor":80},{"sku":"b","price_minor":100}]"#
            let first = try await post(client, "prices", body)
            #expect(first.status == 200)
            #expect(first.text == #"{"changed":1,"unchanged":1,"shelves":["x"]}"#)
            let after = try await version()
            #expect(after > before)
            #expect(try await post(client, "prices", body).text == #"{"changed":0,"unchanged":2,"shelves":[]}"#)
            #expect(try await version() == after)
            // The regular price stays if omitted, and is removed if null.
            _ = try await post(client, "prices", #"[{"sku":"a","price_minor":49}]"#)
            #expect(try await catalog.products.product(Self.store, SKU("a")!).product.regularPriceMinor == 80)
            _ = try await post(client, "prices", #"[{"sku":"a","price_minor":null,"regular_price_minor":null}]"#)
            let product = try await catalog.products.product(Self.store, SKU("a")!).product
            #expect(product.priceMinor == nil)
            #expect(product.regularPriceMinor == nil)
            let last = try await version()
            for bad in [
                #"[{"sku":"b","price_minor":1},{"sku":"z","price_minor":1}]"#,
                #"[{"sku":"b","price_minor":1},{"sku":"b","price_minor":2}]"#,
                #"[{"sku":"b","price_minor":-1}]"#, #"[{"sku":"b","price_minor":1.5}]"#, #"[{"sku":"b"}]"#,
                #"[{"sku":"b","price_minor":1000000000000}]"#, #"[{"sku":"b","price_minor":""}]"#,
                #"[{"sku":"b","price_minor":null,"regular_price_minor":80}]"#,
            ] {
                let response = try await post(client, "prices", bad)
                #expect(response.status == 422, "\(bad): \(response.text)")
            }
            #expect(try await version() == last)
            let order = try await catalog.pages.order(Self.store, CatalogKey("x")!, try Sort.parse("price")).ids
            #expect(order == ["b", "c", "a"])
        }
    }
}
