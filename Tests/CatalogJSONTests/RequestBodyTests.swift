import Catalog
import CatalogJSON
import JSON
import Testing

/// How bodies of requests are read: their defaults, their limits and the members that errors name.
@Suite("Bodies of requests") struct RequestBodyTests {
    private static let (store, shelf, sku) = (CatalogKey("shop")!, CatalogKey("tea")!, SKU("a")!)
    private static let euro = Currency("EUR")!
    private static let now = Timestamp(microseconds: 1_700_000_000_000_000)
    private static let id = "00000000-0000-4000-8000-000000000001"
    private static let otherID = "00000000-0000-4000-8000-000000000002"

    private typealias Reader = @Sendable (JSONValue) throws -> Void

    private static func json(_ text: String) throws -> JSONValue { try JSONReader.parse(Array(text.utf8)) }

    /// The readers of bodies, by what they read.
    private static let readers: [String: Reader] = [
        "product": { _ = try Product(sku: sku, currency: euro, body: $0) },
        "store": { _ = try Store(key: store, body: $0) },
        "shelf": { _ = try Shelf(key: shelf, body: $0) },
        "setting": { _ = try SettingsEdit.Write(SettingKey("k")!, body: $0) },
        "settings": { _ = try SettingsEdit(body: $0) },
        "sort": { _ = try RememberedSortEdit(body: $0) },
        "list": { _ = try NewList(body: $0) },
        "list settings": { _ = try ListSettings(body: $0) },
        "items": { _ = try ListEdit.add(body: $0) },
        "changes": { _ = try ListEdit.change(body: $0) },
        "share": { _ = try ListShare(body: $0, now: now) },
        "moves": { _ = try ManualOrderEdit.moves(body: $0) },
        "order": { _ = try ManualOrderEdit.whole(body: $0) },
        "undo": { _ = try ManualOrderEdit.undo(body: $0) },
        "prices": { _ = try PriceChange.list(body: $0) },
        "purchases": { _ = try Purchase.list(body: $0, now: now) },
        "profile": { _ = try ImportProfile(body: $0) },
    ]

    /// Returns the member that an error names, and the reason; nil if the body is valid.
    private static func failure(_ kind: String, _ body: JSONValue) throws -> (name: String?, reason: String)? {
        let read = try #require(readers[kind])
        do { try read(body) } catch let error as CatalogError {
            switch error {
            case .malformed(let name, _, _, _): return (name: name, reason: error.reason)
            case .unknownSortKey(_, let name): return (name: name, reason: error.reason)
            case .unprocessable(let name, _): return (name: name, reason: error.reason)
            default: return (name: nil, reason: "\(error)")
            }
        }
        return nil
    }

    @Test("A text may have as many bytes as its limit allows, and no more")
    func lengths() throws {
        let limits: [(kind: String, body: String, limit: Int)] = [
            ("product", ##"{"name":"#"}"##, 500), ("product", ##"{"name":"A","brand":"#"}"##, 200),
            ("product", ##"{"name":"A","barcode":"#"}"##, 64), ("product", ##"{"name":"A","image_url":"#"}"##, 2000),
            ("product", ##"{"name":"A","group":"#"}"##, 250),
            ("product", ##"{"name":"A","currency":"#"}"##, 16), ("product", ##"{"name":"A","sku":"#"}"##, 256),
            ("product", ##"{"name":"A","size":{"amount":1,"unit":"#"}}"##, 32),
            ("store", ##"{"currency":"EUR","title":"#"}"##, 200), ("store", ##"{"currency":"#"}"##, 16),
            ("store", ##"{"currency":"EUR","locale":"#"}"##, 35),
            ("store", ##"{"currency":"EUR","collation":"#"}"##, 35), ("store", ##"{"key":"#","currency":"EUR"}"##, 256),
            ("store", ##"{"currency":"EUR","default_sort":"#"}"##, 256), ("shelf", ##"{"title":"#"}"##, 200),
            ("shelf", ##"{"parent":"#"}"##, 64), ("shelf", ##"{"key":"#"}"##, 256),
            ("list", ##"{"name":"#"}"##, 200), ("list", ##"{"name":"A","id":"#"}"##, 64),
            ("list settings", ##"{"name":"#"}"##, 200), ("items", ##"{"text":"#"}"##, 500),
            ("items", ##"{"text":"A","note":"#"}"##, 1000), ("items", ##"{"store":"#","sku":"a"}"##, 64),
            ("items", ##"{"store":"s","sku":"#"}"##, 256), ("changes", ##"{"id":"\##(Self.id)","text":"#"}"##, 500),
            ("changes", ##"{"id":"\##(Self.id)","note":"#"}"##, 1000),
            ("changes", ##"{"id":"\##(Self.id)","modified_at":"#"}"##, 64), ("share", ##"{"role":"#"}"##, 64),
            ("moves", ##"{"moves":[{"ids":["a"],"after":"#"}]}"##, 256),
            ("moves", ##"{"moves":[{"ids":["a"],"before":"#"}]}"##, 256),
            ("moves", ##"{"moves":[{"ids":["a"],"place":"#"}]}"##, 16), ("profile", ##"{"title":"#"}"##, 200),
            ("profile", ##"{"language":"#"}"##, 16), ("profile", ##"{"time_zone":"#"}"##, 64),
            ("profile", ##"{"currency":"#"}"##, 16), ("profile", ##"{"columns":{"sku":{"constant":"#"}}}"##, 4096),
            ("profile", ##"{"columns":{"sku":{"column":"a","line_break":"#"}}}"##, 8),
        ]
        for (kind, body, limit) in limits {
            func reason(_ count: Int) throws -> String {
                let text = body.replacing("#", with: String(repeating: "x", count: count))
                return try Self.failure(kind, try Self.json(text))?.reason ?? ""
            }
            let (within, beyond) = (try reason(limit), try reason(limit + 1))
            #expect(!within.contains("must have at most"), "\(kind) \(body): \(within)")
            #expect(
                beyond.hasSuffix("must have at most \(limit) bytes (got \(limit + 1))"),
                "\(kind) \(body): \(beyond)"
            )
        }
    }

    @Test(
        "A valid body is read",
        arguments: [
            ("product", #"{"name":"A","price_minor":0}"#), ("product", #"{"name":"A","price_minor":999999999999}"#),
            (
                "product",
                """
                {"sku":"a","name":"A","currency":"EUR","unit_price":1,"popularity":1,"as_of":1,"shelves":1,"created_at":1,"modified_at":1}
                """
            ),
            ("store", #"{"key":"shop","currency":"EUR","popularity_half_life_days":1,"newcomer_boost":0}"#),
            ("store", #"{"currency":"EUR","popularity_half_life_days":3650,"newcomer_boost":1000000}"#),
            (
                "shelf",
                """
                {"key":"tea","product_count":1,"modified_at":1,"version":1,"order_version":1,"sort_options":1,"filter_options":1}
                """
            ),
            ("setting", #"{"value":1,"key":"other","revision":1,"modified_at":1}"#),
            ("settings", #"{"settings":[],"revision":1,"resync":true}"#),
            (
                "settings",
                #"{"settings":[{"key":"k","value":1,"modified_at":"2026-03-01T09:30:00Z","revision":1,"applied":true}]}"#
            ),
            ("sort", #"{"sort":"price","revision":1,"modified_at":1,"transition":1,"transition_limit":1}"#),
            ("sort", #"{"sort":"price","transition_limit":10000}"#),
            ("items", #"{"text":"A","quantity":"0.001"}"#), ("items", #"{"text":"A","quantity":"999999.999"}"#),
            ("order", #"{"ids":[]}"#), ("order", #"{"ids":null,"from_sort":"price"}"#), ("undo", "{}"),
            ("prices", "[]"), ("prices", #"[{"sku":"a","price_minor":999999999999}]"#), ("purchases", "[]"),
            ("prices", #"[{"sku":"a","price_minor":0,"regular_price_minor":null}]"#),
            ("purchases", #"[{"event_id":"~ ","sku":"a","quantity":1000000,"at":"2023-11-14T22:18:20Z"}]"#),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":-1000000,"at":"2020-01-01T00:00:00Z"}]"#),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":0.001,"at":"2020-01-01T00:00:00Z","customer":"é"}]"#),
        ] as [(String, String)]
    )
    func validBodies(_ kind: String, _ body: String) throws {
        #expect(try Self.failure(kind, try Self.json(body))?.reason == nil)
    }

    @Test(
        "An invalid body is an error that names the member",
        arguments: [
            ("product", "{}", "name"), ("product", #"{"name":" "}"#, "name"), ("product", #"{"name":"A","x":1}"#, "x"),
            ("product", #"{"name":"A","price_minor":-1}"#, "price_minor"),
            ("product", #"{"name":"A","price_minor":1000000000000}"#, "price_minor"),
            ("product", #"{"name":"A","regular_price_minor":1}"#, "regular_price_minor"),
            ("product", #"{"name":"A","price_minor":1,"regular_price_minor":-1}"#, "regular_price_minor"),
            ("product", #"{"name":"A","currency":"USD"}"#, "currency"), ("product", #"{"name":"A","sku":"b"}"#, "sku"),
            ("product", #"{"name":"A","image_url":"ftp://a"}"#, "image_url"),
            ("product", #"{"name":"A","attributes":[]}"#, "attributes"),
            ("product", #"{"name":"A","attributes":{"b":1,"a":1e9999}}"#, "attributes.a"),
            ("product", #"{"name":"A","tags":["a","a"]}"#, "tags"),
            ("product", #"{"name":"A","tags":["a|b"]}"#, "tags"),
            ("product", #"{"name":"A","tags":[1]}"#, "tags"), ("product", #"{"name":"A","tags":"a"}"#, "tags"),
            ("product", #"{"name":"A","size":{"amount":1}}"#, "size"),
            ("product", #"{"name":"A","size":{"unit":"g"}}"#, "size"),
            ("product", #"{"name":"A","size":{"amount":1,"unit":"box"}}"#, "size"),
            ("product", #"{"name":"A","size":{"amount":1,"unit":"g","packs":0}}"#, "size"),
            ("product", #"{"name":"A","size":{"amount":1,"unit":"g","x":0}}"#, "x"),
            ("product", #"{"name":"A","size":"1 kg"}"#, "size"), ("product", #"{"name":"A","size":[]}"#, "size"),
            ("product", #"{"name":"A","in_stock":1}"#, "in_stock"), ("store", "{}", "currency"),
            ("store", #"{"currency":"EURO"}"#, "currency"), ("store", #"{"currency":"EUR","key":"other"}"#, "key"),
            ("store", #"{"currency":"EUR","locale":"e"}"#, "locale"),
            ("store", #"{"currency":"EUR","collation":"de_AT"}"#, "collation"),
            ("store", #"{"currency":"EUR","popularity_half_life_days":0}"#, "popularity_half_life_days"),
            ("store", #"{"currency":"EUR","popularity_half_life_days":3651}"#, "popularity_half_life_days"),
            ("store", #"{"currency":"EUR","newcomer_boost":-0.1}"#, "newcomer_boost"),
            ("store", #"{"currency":"EUR","newcomer_boost":1000000.1}"#, "newcomer_boost"),
            ("store", #"{"currency":"EUR","newcomer_boost":1e999}"#, "newcomer_boost"),
            ("store", #"{"currency":"EUR","x":1}"#, "x"),
            ("store", #"{"currency":"EUR","sold_out":"first"}"#, "sold_out"),
            ("shelf", #"{"key":"other"}"#, "key"), ("shelf", #"{"parent":"A"}"#, "parent"),
            ("shelf", #"{"parent":"tea"}"#, "parent"), ("shelf", #"{"default_sort":"X"}"#, "default_sort"),
            ("shelf", #"{"x":1}"#, "x"), ("setting", "{}", "value"), ("setting", #"{"value":null}"#, "value"),
            ("setting", #"{"value":[1]}"#, "value"), ("setting", #"{"value":1,"x":1}"#, "x"),
            ("settings", "{}", "settings"), ("settings", #"{"settings":{}}"#, "settings"),
            ("settings", #"{"settings":[],"x":1}"#, "x"), ("settings", #"{"settings":[1]}"#, "settings[0]"),
            ("settings", #"{"settings":[{}]}"#, "settings[0].key"),
            ("settings", #"{"settings":[{"key":"k"}]}"#, "settings[0].modified_at"),
            ("settings", #"{"settings":[{"key":"k","modified_at":"now"}]}"#, "settings[0].modified_at"),
            ("settings", #"{"settings":[{"key":"k","modified_at":"2026-03-01T09:30:00Z"}]}"#, "settings[0]"),
            (
                "settings",
                #"{"settings":[{"key":"k","modified_at":"2026-03-01T09:30:00Z","value":1,"deleted":true}]}"#,
                "settings[0]"
            ),
            (
                "settings", #"{"settings":[{"key":"k","modified_at":"2026-03-01T09:30:00Z","value":[]}]}"#,
                "settings[0].value"
            ),
            ("settings", #"{"settings":[{"key":"k","modified_at":"2026-03-01T09:30:00Z","value":1,"x":1}]}"#, "x"),
            (
                "settings",
                """
                {"settings":[{"key":"k","modified_at":"2026-03-01T09:30:00Z","value":1},\
                {"key":"k","modified_at":"2026-03-01T09:30:00Z","deleted":true}]}
                """, "settings"
            ),
            ("sort", "{}", "sort"), ("sort", #"{"sort":"Prize"}"#, "sort"), ("sort", #"{"sort":"price","x":1}"#, "x"),
            ("sort", #"{"sort":"price","transition_limit":0}"#, "transition_limit"),
            ("sort", #"{"sort":"price","transition_limit":10001}"#, "transition_limit"),
            ("sort", #"{"sort":"price","filter":{"X":1}}"#, "filter.X"), ("list", "{}", "name"),
            ("list", #"{"name":"A","id":"7"}"#, "id"), ("list", #"{"name":"A","sort":"x"}"#, "sort"),
            ("list", #"{"name":"A","x":1}"#, "x"), ("list settings", #"{"name":null}"#, "name"),
            ("list settings", #"{"name":" "}"#, "name"), ("list settings", #"{"x":1}"#, "x"),
            ("items", "{}", "text"), ("items", #"{"items":1}"#, "items"), ("items", #"{"items":[]}"#, "items"),
            ("items", #"{"items":[{"text":"A"}],"x":1}"#, "x"),
            ("items", #"{"items":[{"text":"A"},"B"]}"#, "items[1]"), ("changes", #"{"items":[1]}"#, "items[0]"),
            ("items", #"{"items":[{"text":"A"},{}]}"#, "items[1].text"), ("items", #"{"store":"s"}"#, "sku"),
            ("items", #"{"sku":"a"}"#, "sku"), ("items", #"{"store":"S","sku":"a"}"#, "sku"),
            ("items", #"{"store":"s","sku":"a/b"}"#, "sku"), ("items", #"{"text":"A","x":1}"#, "x"),
            ("items", #"{"text":"A","quantity":0}"#, "quantity"), ("items", #"{"text":"A","quantity":-1}"#, "quantity"),
            ("items", #"{"text":"A","quantity":1000000}"#, "quantity"),
            ("items", #"{"items":[{"text":"A","quantity":0.0001}]}"#, "items[0].quantity"),
            ("changes", "{}", "id"), ("changes", #"{"items":[{}]}"#, "items[0].id"),
            ("changes", #"{"id":"\#(id)","text":""}"#, "text"), ("changes", #"{"id":"\#(id)","x":1}"#, "x"),
            ("changes", #"{"items":[{"id":"\#(id)","text":null}]}"#, "items[0].text"),
            ("changes", #"{"items":[{"id":"\#(id)","modified_at":"now"}]}"#, "items[0].modified_at"),
            ("changes", #"{"items":[{"id":"\#(id)","quantity":0}]}"#, "items[0].quantity"),
            ("share", #"{"role":"owner"}"#, "role"), ("share", #"{"role":"x"}"#, "role"), ("share", #"{"x":1}"#, "x"),
            ("moves", "{}", "moves"), ("moves", #"{"moves":1}"#, "moves"), ("moves", #"{"moves":[],"x":1}"#, "x"),
            ("moves", #"{"moves":[{"ids":["a"],"place":"last"},"b"]}"#, "moves[1]"),
            ("profile", #"{"words":1}"#, "words"), ("profile", #"{"variants":["a"]}"#, "variants"),
            ("profile", #"{"rows":["a"]}"#, "rows[0]"),
            ("moves", #"{"moves":[{"ids":["a"]}]}"#, "moves"), ("moves", #"{"moves":[{"place":"first"}]}"#, "ids"),
            ("moves", #"{"moves":[{"ids":["a"],"place":"first","after":"b"}]}"#, "moves"),
            ("moves", #"{"moves":[{"ids":["a"],"place":"up"}]}"#, "place"),
            ("moves", #"{"moves":[{"ids":["a"],"place":"last","x":1}]}"#, "x"), ("order", "{}", "ids"),
            ("order", #"{"ids":["a"],"from_sort":"price"}"#, "ids"), ("order", #"{"ids":["a"],"x":1}"#, "x"),
            ("order", #"{"from_sort":"X"}"#, "from_sort"), ("undo", #"{"change":"1"}"#, "change"),
            ("undo", #"{"x":1}"#, "x"), ("prices", #"[{"sku":"a"}]"#, "[0].price_minor"),
            ("prices", #"[{"sku":"a","price_minor":-1}]"#, "[0].price_minor"),
            ("prices", #"[{"sku":"a","price_minor":1.5}]"#, "[0].price_minor"),
            ("prices", #"[{"sku":"a","price_minor":"1"}]"#, "[0].price_minor"),
            ("prices", #"[{"sku":"a","price_minor":1000000000000}]"#, "[0].price_minor"),
            ("prices", #"[{"sku":"a","price_minor":1,"regular_price_minor":"2"}]"#, "[0].regular_price_minor"),
            ("prices", #"[{"price_minor":1}]"#, "[0].sku"), ("prices", #"[{"sku":1,"price_minor":1}]"#, "[0].sku"),
            ("prices", #"[{"sku":"a","price_minor":1,"x":1}]"#, "[0].x"), ("prices", "[1]", "[0]"),
            ("purchases", #"[{"sku":"a","quantity":1,"at":"2020-01-01T00:00:00Z"}]"#, "[0].event_id"),
            ("purchases", #"[{"event_id":"é","sku":"a","quantity":1,"at":"2020-01-01T00:00:00Z"}]"#, "[0].event_id"),
            ("purchases", #"[{"event_id":"e","quantity":1,"at":"2020-01-01T00:00:00Z"}]"#, "[0].sku"),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":"1","at":"2020-01-01T00:00:00Z"}]"#, "[0].quantity"),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":0,"at":"2020-01-01T00:00:00Z"}]"#, "[0].quantity"),
            (
                "purchases", #"[{"event_id":"e","sku":"a","quantity":0.0001,"at":"2020-01-01T00:00:00Z"}]"#,
                "[0].quantity"
            ),
            (
                "purchases", #"[{"event_id":"e","sku":"a","quantity":1000000.001,"at":"2020-01-01T00:00:00Z"}]"#,
                "[0].quantity"
            ),
            (
                "purchases", #"[{"event_id":"e","sku":"a","quantity":-1000000.001,"at":"2020-01-01T00:00:00Z"}]"#,
                "[0].quantity"
            ),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":1}]"#, "[0].at"),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":1,"at":"today"}]"#, "[0].at"),
            ("purchases", #"[{"event_id":"e","sku":"a","quantity":1,"at":"2023-11-14T22:18:20.000001Z"}]"#, "[0].at"),
            (
                "purchases",
                #"[{"event_id":"e","sku":"a","quantity":1,"at":"2020-01-01T00:00:00Z","customer":"a\nb"}]"#,
                "[0].customer"
            ),
        ] as [(String, String, String)]
    )
    func invalidBodies(_ kind: String, _ body: String, _ name: String) throws {
        let failure = try Self.failure(kind, try Self.json(body))
        #expect(failure?.name == name, "\(failure?.reason ?? "it is valid")")
    }

    @Test("An object inside a body says what it must be, with an example that is accepted")
    func objects() throws {
        let size = try Self.failure("product", try Self.json(#"{"name":"A","size":"1 kg"}"#))
        #expect(size?.reason == #"size must be an object such as {"amount":"1","unit":"kg"}"#)
        let values = [
            ("product", #"{"name":"A","size":#}"#), ("moves", #"{"moves":[#]}"#), ("profile", #"{"words":#}"#),
            ("profile", #"{"variants":#}"#), ("profile", #"{"rows":[#]}"#),
            ("items", #"{"items":[#]}"#), ("changes", #"{"items":[#]}"#), ("settings", #"{"settings":[#]}"#),
        ]
        for (kind, body) in values {
            let reason = try #require(try Self.failure(kind, try Self.json(body.replacing("#", with: "7")))?.reason)
            let example = try #require(reason.split(separator: " such as ").last.map(String.init))
            #expect(example.first == "{", "\(reason)")
            #expect(try Self.failure(kind, try Self.json(body.replacing("#", with: example)))?.reason == nil, "\(body)")
        }
    }

    @Test("A body of the wrong JSON type is rejected")
    func forms() throws {
        for kind in Self.readers.keys {
            let isList = kind == "prices" || kind == "purchases"
            for body in [JSONValue.null, .number("1"), .string("a"), isList ? .object([]) : .array([])] {
                let isInvalid = try Self.failure(kind, body) != nil
                #expect(isInvalid, "\(kind) \(body)")
            }
        }
        #expect(throws: CatalogError.self) { try PriceChange.list(body: nil) }
        #expect(throws: CatalogError.self) { try Purchase.list(body: nil, now: Self.now) }
        #expect(throws: CatalogError.self) { try OrderMove.list(body: nil) }
        #expect(throws: CatalogError.self) { try ManualOrderEdit.whole(body: nil) }
        #expect(try ManualOrderEdit.undo(body: nil) == .undo(change: nil))
    }

    @Test("The numbers of elements are limited")
    func counts() throws {
        func many(_ count: Int, _ element: JSONValue) -> JSONValue { .array(Array(repeating: element, count: count)) }
        func name(_ kind: String, _ body: JSONValue) throws -> String {
            try Self.failure(kind, body)?.name ?? "nothing"
        }
        let item = JSONValue.object([.init("text", .string("A"))])
        #expect(try name("items", .object([.init("items", many(100, item))])) == "nothing")
        #expect(try name("items", .object([.init("items", many(101, item))])) == "items")
        func settings(_ count: Int) throws -> String {
            try name("settings", .object([.init("settings", many(count, .number("1")))]))
        }
        #expect(try settings(20_000) == "settings[0]")
        #expect(try settings(20_001) == "key")
        for kind in ["prices", "purchases"] {
            #expect(try name(kind, many(10_000, .number("1"))) == "[0]")
            #expect(try Self.failure(kind, many(10_001, .number("1")))?.reason.contains("the maximum is 10000") == true)
        }
        func product(_ tags: Int) throws -> JSONValue {
            try Self.json("{\"name\":\"A\",\"tags\":[\((0..<tags).map { "\"t\($0)\"" }.joined(separator: ","))]}")
        }
        #expect(try name("product", try product(50)) == "nothing")
        #expect(try name("product", try product(51)) == "tags")
        func attributes(_ count: Int) -> JSONValue {
            // The value has eight bytes beside its text.
            .object([
                .init("name", .string("A")),
                .init("attributes", .object([.init("a", .string(String(repeating: "x", count: count - 8)))])),
            ])
        }
        #expect(try name("product", attributes(4096)) == "nothing")
        #expect(try name("product", attributes(4097)) == "attributes.a")
    }

    @Test("An event of a purchase and its customer have limits in bytes, and the clock of a till may be ahead")
    func purchases() throws {
        func name(_ event: Int, _ customer: Int) throws -> String? {
            let body = """
                [{"event_id":"\(String(repeating: "e", count: event))","sku":"a","quantity":1,"at":"2020-01-01T00:00:00Z",\
                "customer":"\(String(repeating: "c", count: customer))"}]
                """
            return try Self.failure("purchases", try Self.json(body))?.name
        }
        #expect(try name(64, 200) == nil)
        #expect(try name(65, 1) == "[0].event_id")
        #expect(try name(1, 201) == "[0].customer")
        let body = #"[{"event_id":"e","sku":"a","quantity":-2.5,"at":"2023-11-14T22:18:20Z","customer":"c"}]"#
        let purchase = Purchase(
            eventID: "e",
            sku: Self.sku,
            quantity: ExactDecimal("-2.5")!,
            at: Timestamp(microseconds: Self.now.microseconds + 300_000_000),
            customer: "c"
        )
        #expect(try Purchase.list(body: try Self.json(body), now: Self.now) == [purchase])
        #expect(Purchase.columns == ["event_id", "sku", "quantity", "at", "customer"])
    }

    @Test("A missing regular price is not the same as none")
    func prices() throws {
        let body = """
            [{"sku":"a","price_minor":1},{"sku":"b","price_minor":null,"regular_price_minor":null},\
            {"sku":"c","price_minor":2,"regular_price_minor":3}]
            """
        #expect(
            try PriceChange.list(body: try Self.json(body)) == [
                PriceChange(sku: SKU("a")!, priceMinor: 1),
                PriceChange(sku: SKU("b")!, priceMinor: nil, regularPriceMinor: .some(nil)),
                PriceChange(sku: SKU("c")!, priceMinor: 2, regularPriceMinor: .some(3)),
            ]
        )
    }

    @Test("Members that a product, a shelf or a store lacks have their defaults, and given ones are read")
    func products() throws {
        let new = try Product(sku: Self.sku, currency: Self.euro, body: try Self.json(#"{"name":" A "}"#))
        #expect(new == Product(sku: Self.sku, name: "A"))
        let body = #"{"name":"A","size":{"amount":"1.5","unit":"kg"},"tags":["e\u0301"],"in_stock":false}"#
        let product = try Product(sku: Self.sku, currency: Self.euro, body: try Self.json(body))
        #expect(product.size == (try Size(amount: ExactDecimal("1.5")!, unit: .kg)))
        #expect(product.tags.map { Array($0.utf8) } == [[0xC3, 0xA9]])
        #expect(!product.inStock)
        let full = #"{"name":"A","size":{"amount":2,"unit":"g","packs":3,"drained":1,"approximate":true}}"#
        #expect(
            try Product(sku: Self.sku, currency: Self.euro, body: try Self.json(full)).size
                == (try Size(amount: ExactDecimal(2), unit: .g, packs: 3, drained: ExactDecimal(1), isApproximate: true))
        )
        for size in ["null", #"{"amount":0,"unit":"g"}"#] {
            let body = try Self.json("{\"name\":\"A\",\"size\":\(size)}")
            #expect(try Product(sku: Self.sku, currency: Self.euro, body: body).size == nil)
        }
        #expect(
            try Store(key: Self.store, body: try Self.json(#"{"currency":"EUR"}"#))
                == Store(key: Self.store, title: "shop", currency: Self.euro)
        )
        #expect(try Shelf(key: Self.shelf, body: .object([])) == Shelf(key: Self.shelf, title: "tea"))
        let store = Store(
            key: Self.store,
            title: "Shop",
            currency: Currency("SEK")!,
            locale: "sv-SE",
            collation: "sv",
            unitPricing: .se,
            soldOut: .mixed,
            defaultSort: try Sort.parse("-price"),
            popularityMetric: .last7Days,
            popularityHalfLifeDays: 21,
            newcomerBoost: 1.5
        )
        let written = JSONWriter.document { store.write(to: &$0) }
        #expect(try Store(key: Self.store, body: try JSONReader.parse(written)) == store)
    }

    @Test("A merge patch of a shelf changes what it names")
    func shelves() throws {
        let shelf = Shelf(
            key: Self.shelf,
            title: "Tea",
            parent: CatalogKey("drinks")!,
            defaultSort: try Sort.parse("price"),
            dimension: .volume,
            soldOut: .mixed,
            positionSource: .system,
            includesDescendants: true,
            collapsesGroups: true
        )
        #expect(try shelf.merging(.object([])) == shelf)
        var changed = shelf
        (changed.title, changed.parent) = ("tea", nil)
        #expect(try shelf.merging(try Self.json(#"{"title":null,"parent":null}"#)) == changed)
        #expect(throws: CatalogError.self) { try shelf.merging(try Self.json(#"{"x":1}"#)) }
    }

    @Test("A whole number with a fraction of zero is a price, in a patch, too")
    func integralPatches() throws {
        let store = Store(key: Self.store, title: "S", currency: Self.euro)
        let product = Product(sku: Self.sku, name: "A", priceMinor: 299, regularPriceMinor: 349)
        let patched = try product.merging(try Self.json(#"{"price_minor":300.0}"#), in: store)
        #expect(patched.priceMinor == 300)
        #expect(patched.regularPriceMinor == 349)
    }

    @Test("Settings and remembered sorts are read with their values and times")
    func settings() throws {
        let time = Timestamp(rfc3339: "2026-03-01T09:30:00Z")!
        let body = """
            {"settings":[{"key":"a","value":{"x":1},"modified_at":"2026-03-01T09:30:00Z","deleted":false},\
            {"key":"b","deleted":true,"modified_at":"2026-03-01T09:30:00Z"}]}
            """
        #expect(
            try SettingsEdit(body: try Self.json(body)).writes == [
                .init(SettingKey("a")!, .object([.init("x", .number("1"))]), modifiedAt: time),
                .init(SettingKey("b")!, nil, modifiedAt: time),
            ]
        )
        let write = try SettingsEdit.Write(SettingKey("k")!, body: try Self.json(#"{"value":false}"#))
        #expect(write == .init(SettingKey("k")!, .bool(false)))
        let plain = try RememberedSortEdit(body: try Self.json(#"{"sort":"price","filter":null}"#))
        #expect(try plain.rememberedSort(in: .none) == RememberedSort(try Sort.parse("price")))
        #expect(plain.transitionLimit == nil)
        let rich = try RememberedSortEdit(
            body: try Self.json(#"{"sort":"price","filter":{"in_stock":true},"transition_limit":7}"#)
        )
        #expect(
            try rich.rememberedSort(in: .none)
                == RememberedSort(try Sort.parse("price"), try Filter(query: "in_stock=true"))
        )
        #expect(rich.transitionLimit == 7)
        for collapses in [false, true] {
            let body = #"{"sort":"price","collapse":\#(collapses)}"#
            let grouped = try RememberedSortEdit(body: try Self.json(body))
            let expected = RememberedSort(try Sort.parse("price"), collapsesGroups: collapses)
            #expect(try grouped.rememberedSort(in: .none) == expected)
            let setting = Setting(
                key: SettingKey("k")!,
                value: expected.value,
                revision: 1,
                modifiedAt: time
            )
            let written = String(decoding: setting.sortJSON(), as: UTF8.self)
            #expect(written.hasPrefix(#"{"sort":"price","filter":null,"collapse":\#(collapses),"revision":1"#))
        }
    }

    @Test("Lists, items and shares are read with their defaults")
    func lists() throws {
        let list = try NewList(
            body: try Self.json(#"{"id":"\#(Self.id)","name":" Week ","auto_sort":false,"sort":"-price"}"#)
        )
        #expect(list == NewList(id: UniqueID(Self.id)!, name: "Week", autoSort: false, sort: .priceDescending))
        let plain = try NewList(body: try Self.json(#"{"name":"Week"}"#))
        #expect(plain == NewList(id: plain.id, name: "Week", autoSort: nil, sort: .position))
        #expect(try NewList(body: try Self.json(#"{"name":"Week"}"#)).id != plain.id)
        let all = try ListSettings(body: try Self.json(#"{"name":"A","auto_sort":true,"sort":"name","deleted":false}"#))
        #expect(all == ListSettings(name: "A", autoSort: true, sort: .name, isDeleted: false))
        #expect(try ListSettings(body: .object([])) == ListSettings())

        let items = """
            {"items":[{"id":"\(Self.id)","text":" Tea ","quantity":"2.5","note":" n ","checked":true},\
            {"id":"\(Self.otherID)","store":"shop","sku":"a"}]}
            """
        #expect(
            try ListEdit.add(body: try Self.json(items))
                == .add([
                    NewListItem(
                        id: UniqueID(Self.id)!,
                        text: "Tea",
                        quantity: ExactDecimal("2.5")!,
                        note: "n",
                        isChecked: true
                    ), NewListItem(id: UniqueID(Self.otherID)!, product: ProductReference(Self.store, Self.sku)),
                ])
        )
        let changes = """
            {"items":[{"id":"\(Self.id)","text":"Tea","quantity":3,"note":"n","checked":true,"deleted":false,\
            "modified_at":"2026-03-01T09:30:00Z"},{"id":"\(Self.otherID)","note":null}]}
            """
        #expect(
            try ListEdit.change(body: try Self.json(changes))
                == .change([
                    ListItemChange(
                        UniqueID(Self.id)!,
                        text: "Tea",
                        quantity: ExactDecimal(3),
                        note: .some("n"),
                        isChecked: true,
                        isDeleted: false,
                        modifiedAt: Timestamp(rfc3339: "2026-03-01T09:30:00Z")!
                    ), ListItemChange(UniqueID(Self.otherID)!, note: .some(nil)),
                ])
        )
        let one = try ListItemChange(UniqueID(Self.id)!, body: .object([]))
        #expect(one == ListItemChange(UniqueID(Self.id)!))

        for (body, role) in [
            ("{}", ListRole.reader), (#"{"role":"editor"}"#, .editor), (#"{"role":"reader"}"#, .reader),
        ] as [(String, ListRole)] {
            let share = try ListShare(body: try Self.json(body), now: Self.now)
            #expect(share.role == role)
            #expect(share.members == 0 && share.createdAt == Self.now)
            // 30 days later.
            #expect(share.expiresAt.rfc3339 == "2023-12-14T22:13:20Z")
        }
        let error = #expect(throws: CatalogError.self) {
            try ListShare(body: try Self.json(#"{"role":"owner"}"#), now: Self.now)
        }
        #expect(
            error
                == CatalogError.malformed(
                    parameter: "role",
                    detail: "role must be one of the allowed values (got “owner”)",
                    allowed: ["editor", "reader"]
                )
        )
    }

    @Test("Edits of an order are read with each kind of target")
    func orders() throws {
        let body = """
            {"moves":[{"ids":["a","b"],"after":"c"},{"ids":["a"],"before":"e\\u0301"},{"ids":["a"],"place":"first"},\
            {"ids":["a"],"place":"last"},{"ids":["a"],"position":7},{"ids":["a"],"position":-1}]}
            """
        let moves = [
            OrderMove(["a", "b"], .after("c")), OrderMove(["a"], .before("\u{E9}")), OrderMove(["a"], .first),
            OrderMove(["a"], .last), OrderMove(["a"], .position(7)), OrderMove(["a"], .position(-1)),
        ]
        #expect(try ManualOrderEdit.moves(body: try Self.json(body)) == .moves(moves))
        #expect(try ManualOrderEdit.whole(body: try Self.json(#"{"ids":["a"]}"#)) == .set(["a"]))
        #expect(
            try ManualOrderEdit.whole(body: try Self.json(#"{"from_sort":"price"}"#))
                == .snapshot(try Sort.parse("price"))
        )
        #expect(try ManualOrderEdit.undo(body: try Self.json(#"{"change":7}"#)) == .undo(change: 7))
    }

    @Test("Errors quote at most 64 letters of a text")
    func quotes() throws {
        let long = String(repeating: "x", count: 65)
        let quoted = String(repeating: "x", count: 64)
        var reader = try BodyReader(.object([.init(long, .string(long)), .init("sort", .string(long))]))
        #expect(
            throws: CatalogError.malformed(
                parameter: "sort",
                // The value is quoted as JSON.
                detail: "sort must be one of the allowed values (got \"\(quoted.dropLast()))",
                allowed: SoldOut.allCases.map(\.rawValue)
            )
        ) { try reader.choice("sort", SoldOut.self) }
        #expect(
            throws: CatalogError.malformed(
                parameter: quoted,
                detail: "unknown property “\(quoted)”",
                allowed: ["a", "sort"]
            )
        ) {
            reader.ignore("a")
            try reader.end()
        }
        let share = #expect(throws: CatalogError.self) {
            try ListShare(body: .object([.init("role", .string(String(long.dropLast())))]), now: Self.now)
        }
        #expect(share?.reason == "role must be one of the allowed values (got “\(quoted)”)")
    }

    @Test("Errors of a reader name the expected type")
    func expectations() throws {
        var reader = try BodyReader(
            .object([
                .init("a", .number("1")), .init("b", .string("x")), .init("c", .array([.number("1")])),
                .init("d", .string("\u{958}")), .init("a", .number("2")),
            ])
        )
        func reason(_ body: (inout BodyReader) throws -> Void) -> String? {
            do { try body(&reader) } catch { return (error as? CatalogError)?.reason }
            return nil
        }
        #expect(reason { _ = try $0.string("a", bytes: 9) } == "a must be a string")
        #expect(reason { _ = try $0.integer("b") } == "b must be an integer")
        #expect(reason { _ = try $0.double("b") } == "b must be a number")
        #expect(reason { _ = try $0.bool("a") } == "a must be true or false")
        #expect(reason { _ = try $0.decimal("b") } == "b must be a decimal number such as \"0.75\"")
        #expect(reason { _ = try $0.strings("a") } == "a must be an array of strings")
        #expect(reason { _ = try $0.strings("c") } == "c must be an array of strings")
        #expect(reason { _ = try $0.ids("x") } == "x is required and must be an array of ids")
        #expect(reason { _ = try $0.ids("c") } == "c must be an array of strings")
        #expect(try reader.double("a") == 1)
        #expect(try reader.integer("a") == 1, "the first of two members counts")
        // The composed form of this letter has six bytes.
        #expect(try reader.nonBlankString("d", bytes: 6)?.utf8.count == 6)
        #expect(
            reason { _ = try $0.nonBlankString("d", bytes: 5) }
                == "d must have at most 5 bytes in Unicode's composed form (got 6)"
        )
        #expect(reason { _ = try $0.uniqueID("b") } == "b must be a UUID")
        let key = Self.failureOfKey()
        #expect(key == "sku is “b” in the body and “a” in the path")
    }

    private static func failureOfKey() -> String? {
        try? failure("product", try json(#"{"name":"A","sku":"b"}"#))?.reason
    }
}
