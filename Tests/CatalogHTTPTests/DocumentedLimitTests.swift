import Catalog
import CatalogHTTP
import CatalogJSON
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Every limit of size, number and value that the description states for requests: the limit itself is accepted, one more or less is
/// refused. The limits come from the description, so that a new one fails here until it has a request.
@Suite(.timeLimit(.minutes(15))) struct DocumentedLimitTests {
    /// A limit of a schema or parameter.
    struct Limit: Sendable, CustomTestStringConvertible {
        /// The path of the property, such as `ProductInput.tags[]`; a parameter begins with `?`.
        let place: String
        let keyword: String
        let number: Int

        /// The last accepted value, and the first refused one.
        var edge: (accepted: Int, refused: Int) {
            switch keyword {
            case "exclusiveMaximum": (number - 1, number)
            case "exclusiveMinimum": (number + 1, number)
            case let keyword where keyword.hasPrefix("min"): (number, number - 1)
            default: (number, number + 1)
            }
        }

        var testDescription: String { "\(place) \(keyword) \(number)" }
    }

    /// A request with a value of a given size.
    struct Probe {
        var method: HTTPRequest.Method
        var path: String
        var body: String?
        var headers: [String: String] = [:]
        /// Words of the error for a value beyond the limit; at the limit, the request may fail for another reason. Without, it succeeds.
        var refusal: String?
    }

    private static let keywords = [
        "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "exclusiveMaximum", "exclusiveMinimum",
        "maxProperties", "minProperties",
    ]

    /// Limits that other suites test, or that no request can reach.
    private static let exceptions: [String: Set<String>] = [
        // `FilterTests` and `ImportProfileTests`.
        "Filter": [
            "brand", "brand[]", "tag", "tag[]", "tags_all", "tags_all[]", "tags_none", "tags_none[]", "price_min",
            "price_max", "dimension",
        ],
        "ImportCondition": ["column", "column[]", "is"],
        "ImportProfile": [
            "title", "header_line", "records", "records[]", "attributes", "rows", "language", "separators.*",
            "shelf_path", "time_zone",
        ],
        "ImportSource": [""], "ImportSource[]": [""], "ImportSource[][]": [""],
        "?filter_brand": [""], "?filter_brand[]": [""], "?filter_tag": [""], "?filter_tag[]": [""],
        "?filter_tags_all": [""], "?filter_tags_all[]": [""], "?filter_tags_none": [""], "?filter_tags_none[]": [""],
        "?filter_dimension": [""],
        // Imports have no in-memory implementation.
        "File": [""], "?max_new_shelves": [""], "?max_rejects": [""], "?header_line": [""], "?profile": [""],
        // Texts that are looked up or verified: any other one is unknown.
        "JoinInput": ["token"], "MergeInput": ["guest_token"], "DemoTokenInput": ["user"], "?ticket": [""],
        "?cursor": [""], "SizeInput": ["unit"],
        // The same as those of `SizeInput`.
        "SizePatch": ["amount", "unit", "packs", "drained"],
        // An unknown change is a conflict, whatever its number.
        "UndoInput": ["change"],
        // `AttributePlanTests` and `FilterTests`.
        "AttributeFilterValue": [""],
        // A sort that is so long has unknown keys.
        "SortText": [""],
        // Streams do not end.
        "?last_event_id": [""], "?shelf_since": [""],
    ]

    /// Single limits without a probe: the largest integers, and prices below which a regular price is no longer one.
    private static let exceptionalLimits: Set<String> = [
        "ManualMove.position maximum", "?since maximum", "?list_since maximum",
        "ProductInput.regular_price_minor minimum", "ProductPatch.regular_price_minor minimum",
        "PriceChange.regular_price_minor minimum",
    ]

    /// Large lists, of which only one too many is sent.
    private static let refusedOnly: Set<String> = ["ListsDiffInput.to maxItems", "ShelfDiffInput.from maxItems"]

    /// All limits of request bodies and parameters.
    private static let all: [Limit] = {
        let document = try! JSONReader.parse(OpenAPI.document)
        let schemas = document["components"]?["schemas"]
        var reached: Set<String> = []
        func follow(_ value: JSONValue) {
            if let name = value["$ref"]?.string?.split(separator: "/").last.map({ String($0) }),
                let schema = schemas?[name], reached.insert(name).inserted
            {
                follow(schema)
            }
            for member in value.members ?? [] { follow(member.value) }
            for element in value.elements ?? [] { follow(element) }
        }
        for path in document["paths"]?.members ?? [] {
            for operation in path.value.members ?? [] {
                if let body = operation.value["requestBody"] { follow(body) }
            }
        }
        var limits: [Limit] = []
        func collect(_ schema: JSONValue, _ place: String) {
            for keyword in keywords {
                if case .number(let digits)? = schema[keyword], let number = Int(digits) {
                    limits.append(Limit(place: place, keyword: keyword, number: number))
                }
            }
            for property in schema["properties"]?.members ?? [] { collect(property.value, "\(place).\(property.name)") }
            if let items = schema["items"] { collect(items, place + "[]") }
            if let others = schema["additionalProperties"] { collect(others, place + ".*") }
            for keyword in ["oneOf", "anyOf", "allOf"] {
                for alternative in schema[keyword]?.elements ?? [] { collect(alternative, place) }
            }
        }
        for name in reached.sorted() { collect(schemas?[name] ?? .null, name) }
        for parameter in document["components"]?["parameters"]?.members ?? [] {
            collect(parameter.value["schema"] ?? .null, "?" + parameter.name)
        }
        return limits
    }()

    private static func isException(_ limit: Limit) -> Bool {
        let parts = limit.place.split(separator: ".", maxSplits: 1).map { String($0) }
        return exceptions[parts[0]]?.contains(parts.count > 1 ? parts[1] : "") == true
            || exceptionalLimits.contains("\(limit.place) \(limit.keyword)")
    }

    static let tested: [Limit] = all.filter { !isException($0) }

    @Test("Each limit in the description has a request or a reason, and each reason is still needed")
    func limitsAreCovered() {
        #expect(Self.tested.count > 90)
        for limit in Self.tested {
            #expect(!Self.probes(limit.place, 1, "l", "i").isEmpty, "\(limit.testDescription)")
        }
        let places = Set(Self.all.map(\.place))
        for (schema, properties) in Self.exceptions {
            for property in properties {
                #expect(places.contains(property.isEmpty ? schema : "\(schema).\(property)"), "\(schema) \(property)")
            }
        }
        let limits = Set(Self.all.map { "\($0.place) \($0.keyword)" })
        #expect(limits.isSuperset(of: Self.exceptionalLimits.union(Self.refusedOnly)))
    }

    @Test("A value at a documented limit is accepted, and the next one is refused", arguments: tested)
    func edges(_ limit: Limit) async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).text("id"))
        let added = try await api.send(.post, "/v1/me/lists/\(list)/items", #"{"text":"a"}"#)
        let item = try #require(added.texts("items", "id").first)
        let (accepted, refused) = limit.edge
        func send(_ probe: Probe) async throws -> MemoryAPI.Response {
            try await api.send(probe.method, probe.path, probe.body, probe.headers)
        }
        if !Self.refusedOnly.contains("\(limit.place) \(limit.keyword)") {
            for probe in Self.probes(limit.place, accepted, list, item) {
                let response = try await send(probe)
                let detail = response.text("detail") ?? ""
                if let refusal = probe.refusal {
                    #expect(!detail.contains(refusal), "\(probe.path.prefix(100)): \(detail.prefix(200))")
                    #expect(response.status < 500)
                } else {
                    #expect(
                        (200..<300).contains(response.status),
                        "\(probe.path.prefix(100)): \(response.status) \(detail.prefix(200))"
                    )
                }
            }
        }
        for probe in Self.probes(limit.place, refused, list, item) {
            let response = try await send(probe)
            let detail = response.text("detail") ?? ""
            #expect(
                [400, 404, 413, 422].contains(response.status),
                "\(probe.path.prefix(100)): \(response.status) \(detail.prefix(200))"
            )
            if let refusal = probe.refusal, limit.keyword.hasPrefix("max") {
                #expect(detail.contains(refusal), "\(probe.path.prefix(100)): \(detail.prefix(200))")
            }
        }
    }

    @Test(
        "Attributes and values of settings have up to 4,096 bytes",
        arguments: [(4096, 200..<300), (4097, 422..<423)]
    )
    func jsonSizes(_ bytes: Int, _ statuses: Range<Int>) async throws {
        let api = try await MemoryAPI.withShelf()
        // An object with one member has eight bytes around its text: {"a":""}.
        let object = #"{"a":"\#(Self.text(bytes - 8))"}"#
        #expect(object.utf8.count == bytes)
        let product = try await api.send(.put, "/v1/stores/s/products/milk", #"{"name":"a","attributes":\#(object)}"#)
        #expect(statuses.contains(product.status))
        let patch = try await api.send(.patch, "/v1/stores/s/products/milk", #"{"attributes":\#(object)}"#)
        #expect(statuses.contains(patch.status))
        for value in [object, #""\#(Self.text(bytes - 2))""#] {
            let one = try await api.send(.put, "/v1/me/settings/theme", #"{"value":\#(value)}"#)
            #expect(statuses.contains(one.status))
            let change = #"{"key":"a","value":\#(value),"modified_at":"2025-01-01T00:00:00Z"}"#
            let many = try await api.send(.put, "/v1/me/settings", #"{"settings":[\#(change)]}"#)
            #expect(statuses.contains(many.status))
        }
    }

    // MARK: - Requests

    private static func text(_ length: Int) -> String { String(repeating: "x", count: max(0, length)) }

    /// Returns a JSON string.
    private static func string(_ length: Int) -> String { "\"" + text(length) + "\"" }

    /// Returns a JSON array of different ids.
    private static func ids(_ count: Int) -> String {
        "[" + (0..<max(0, count)).map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    /// Returns a JSON array of equal elements.
    private static func array(_ count: Int, of element: String) -> String {
        "[" + Array(repeating: element, count: max(0, count)).joined(separator: ",") + "]"
    }

    /// Returns a language tag, or another text if none has this length.
    private static func languageTag(_ length: Int) -> String {
        "\"" + String((0..<length).map { $0 % 9 == 8 ? "-" : "a" }) + "\""
    }

    private static func product(_ members: String) -> [Probe] {
        let body = members.contains("\"name\"") ? "{\(members)}" : "{\"name\":\"a\",\(members)}"
        return [Probe(method: .put, path: "/v1/stores/s/products/milk", body: body)]
    }

    private static func patch(_ members: String) -> [Probe] {
        [Probe(method: .patch, path: "/v1/stores/s/products/milk", body: "{\(members)}")]
    }

    private static func attribute(_ members: String, refusal: String? = nil) -> [Probe] {
        ["/v1/attributes/rating", "/v1/stores/s/attributes/own"].map {
            Probe(method: .put, path: $0, body: "{\(members)}", refusal: refusal)
        }
    }

    private static func synonyms(_ members: String, refusal: String? = nil) -> [Probe] {
        ["/v1/synonyms", "/v1/stores/s/synonyms"].map {
            Probe(method: .put, path: $0, body: "{\(members)}", refusal: refusal)
        }
    }

    private static func ratio(_ denominator: String = "[\"quantity\"]") -> String {
        "\"type\":\"ratio\",\"numerator\":\"price\",\"denominator\":\(denominator)"
    }

    private static func prices(_ body: String, refusal: String? = nil) -> [Probe] {
        [Probe(method: .post, path: "/v1/stores/s/prices", body: body, refusal: refusal)]
    }

    private static func purchase(_ event: String = "\"1\"", quantity: Int = 1, customer: String = "\"a\"") -> String {
        #"{"event_id":\#(event),"sku":"milk","quantity":\#(quantity),"at":"2025-01-01T00:00:00Z","customer":\#(customer)}"#
    }

    private static func purchases(_ body: String) -> [Probe] {
        [Probe(method: .post, path: "/v1/stores/s/purchases", body: body)]
    }

    private static func store(_ members: String) -> [Probe] {
        [Probe(method: .put, path: "/v1/stores/t", body: "{\"currency\":\"EUR\",\(members)}")]
    }

    private static let shelf = "/v1/stores/s/shelves/dairy"

    private static func moves(_ body: String, refusal: String?) -> [Probe] {
        [Probe(method: .post, path: shelf + "/order/moves", body: "{\"moves\":\(body)}", refusal: refusal)]
    }

    private static func rank(_ members: String) -> [Probe] {
        [Probe(method: .post, path: shelf + "/order/rank", body: "{\(members)}")]
    }

    private static func diff(_ members: String) -> [Probe] {
        [Probe(method: .post, path: "/v1/order/diff?mode=order", body: "{\(members)}")]
    }

    private static func shelfDiff(_ members: String) -> [Probe] {
        [Probe(method: .post, path: shelf + "/order/diff?mode=order", body: "{\"to_sort\":\"price\",\(members)}")]
    }

    /// Returns requests with a value of a size at a place of the description; none for an unknown place.
    private static func probes(_ place: String, _ size: Int, _ list: String, _ item: String) -> [Probe] {
        if place.hasPrefix("?") { return parameterProbes(place, size, list) }
        if place.hasPrefix("List"), !place.hasPrefix("ListsDiffInput") { return listProbes(place, size, list, item) }
        // Larger sizes are numbers.
        let string = size < 1_000_000 ? string(size) : ""
        switch place {
        case "StoreInput.title": return store("\"title\":\(string)")
        case "StoreInput.locale": return store("\"locale\":\(languageTag(size))")
        case "StoreInput.collation": return store("\"collation\":\(languageTag(size))")
        case "StoreInput.popularity_half_life_days": return store("\"popularity_half_life_days\":\(size)")
        case "StoreInput.newcomer_boost": return store("\"newcomer_boost\":\(size)")
        case "ShelfInput.title":
            return [Probe(method: .put, path: "/v1/stores/s/shelves/new", body: "{\"title\":\(string)}")]
        case "ShelfPatch.title": return [Probe(method: .patch, path: shelf, body: "{\"title\":\(string)}")]
        case "Sku": return [Probe(method: .put, path: "/v1/stores/s/products/\(text(size))", body: "{\"name\":\"a\"}")]
        case "ProductInput.name": return product("\"name\":\(string)")
        case "ProductInput.brand": return product("\"brand\":\(string)")
        case "ProductInput.barcode": return product("\"barcode\":\(string)")
        case "ProductInput.image_url": return product("\"image_url\":\"/\(text(size - 1))\"")
        case "ProductInput.group": return product("\"group\":\(string)")
        case "ProductInput.price_minor": return product("\"price_minor\":\(size)")
        case "ProductInput.regular_price_minor": return product("\"price_minor\":1,\"regular_price_minor\":\(size)")
        case "ProductInput.tags": return product("\"tags\":\(ids(size))")
        case "ProductInput.tags[]": return product("\"tags\":[\(string)]")
        case "ProductPatch.name": return patch("\"name\":\(string)")
        case "ProductPatch.brand": return patch("\"brand\":\(string)")
        case "ProductPatch.barcode": return patch("\"barcode\":\(string)")
        case "ProductPatch.image_url": return patch("\"image_url\":\"/\(text(size - 1))\"")
        case "ProductPatch.group": return patch("\"group\":\(string)")
        case "ProductPatch.price_minor": return patch("\"price_minor\":\(size)")
        case "ProductPatch.regular_price_minor": return patch("\"price_minor\":1,\"regular_price_minor\":\(size)")
        case "ProductPatch.tags": return patch("\"tags\":\(ids(size))")
        case "ProductPatch.tags[]": return patch("\"tags\":[\(string)]")
        case "SizeInput.amount": return product("\"size\":{\"amount\":\(size),\"unit\":\"g\"}")
        case "SizeInput.packs": return product("\"size\":{\"amount\":\"1\",\"unit\":\"g\",\"packs\":\(size)}")
        case "SizeInput.drained": return product("\"size\":{\"amount\":\"9\",\"unit\":\"g\",\"drained\":\(size)}")
        case "AttributeInput.decimals": return attribute("\"type\":\"number\",\"decimals\":\(size)")
        case "AttributeInput.unit": return attribute("\"type\":\"number\",\"unit\":\(string)")
        case "AttributeInput.values":
            let options = (0..<max(0, size)).map { "{\"key\":\"\($0)\"}" }.joined(separator: ",")
            return attribute("\"type\":\"enum\",\"values\":[\(options)]")
        case "AttributeInput.denominator":
            let names = ["quantity", "protein", "fat"].prefix(max(0, size)).map { "\"\($0)\"" }.joined(separator: ",")
            // No attribute has these names.
            return attribute(ratio("[\(names)]"), refusal: "one or two different elements")
        case "AttributeInput.scale": return attribute(ratio() + ",\"scale\":\(size)")
        case "AttributeInput.per": return attribute(ratio() + ",\"per\":\(string)")
        case "AttributeOption.key": return attribute("\"type\":\"enum\",\"values\":[{\"key\":\(string)}]")
        case "AttributeTitles":
            let texts = (0..<max(0, size)).map { "\"a\($0)\":\"x\"" }.joined(separator: ",")
            return attribute("\"type\":\"text\",\"title\":{\(texts)}")
        case "AttributeTitles.*": return attribute("\"type\":\"text\",\"title\":{\"en\":\(string)}")
        case "SynonymsInput.synonyms":
            return synonyms("\"synonyms\":\(array(size, of: #"["a","b"]"#))")
        case "SynonymsInput.synonyms[]": return synonyms("\"synonyms\":[\(ids(size))]")
        case "SynonymsInput.synonyms[][]": return synonyms("\"synonyms\":[[\"a\",\(string)]]")
        case "SynonymsInput.one_way":
            return synonyms("\"one_way\":\(array(size, of: #"{"from":"a","to":["b"]}"#))")
        case "SynonymsInput.one_way[].from": return synonyms("\"one_way\":[{\"from\":\(string),\"to\":[\"b\"]}]")
        case "SynonymsInput.one_way[].to": return synonyms("\"one_way\":[{\"from\":\"a\",\"to\":\(ids(size))}]")
        case "SynonymsInput.one_way[].to[]":
            return synonyms("\"one_way\":[{\"from\":\"a\",\"to\":[\(string)]}]")
        case "RankInput.skus": return rank("\"skus\":\(ids(size))")
        case "RankInput.skus[]": return rank("\"skus\":[\(string)]")
        case "PriceChanges":
            return prices(array(size, of: #"{"sku":"milk","price_minor":1}"#), refusal: "the maximum is 10000")
        case "PriceChange.price_minor": return prices("[{\"sku\":\"milk\",\"price_minor\":\(size)}]")
        case "PriceChange.regular_price_minor":
            return prices("[{\"sku\":\"milk\",\"price_minor\":1,\"regular_price_minor\":\(size)}]")
        case "Purchases": return purchases(array(size, of: purchase()))
        case "Purchase.event_id": return purchases("[\(purchase(string))]")
        case "Purchase.quantity": return purchases("[\(purchase(quantity: size))]")
        case "Purchase.customer": return purchases("[\(purchase(customer: string))]")
        case "ManualMoves.moves":
            return moves(array(size, of: #"{"ids":["milk"],"place":"first"}"#), refusal: nil)
        case "ManualMove.ids":
            return moves("[{\"ids\":\(ids(size)),\"place\":\"first\"}]", refusal: "at most 10000 products")
        case "ManualMove.ids[]":
            return moves("[{\"ids\":[\(string)],\"place\":\"first\"}]", refusal: "1 to 256 bytes")
        case "ManualMove.after":
            return moves("[{\"ids\":[\"milk\"],\"after\":\(string)}]", refusal: "at most 256 bytes")
        case "ManualMove.before":
            return moves("[{\"ids\":[\"milk\"],\"before\":\(string)}]", refusal: "at most 256 bytes")
        case "ManualMove.position": return moves("[{\"ids\":[\"milk\"],\"position\":\(size)}]", refusal: nil)
        case "WholeOrderInput.ids":
            return [
                Probe(
                    method: .put,
                    path: shelf + "/order",
                    body: "{\"ids\":\(ids(size))}",
                    refusal: "the maximum is 200000"
                )
            ]
        case "WholeOrderInput.ids[]":
            return [
                Probe(method: .put, path: shelf + "/order", body: "{\"ids\":[\(string)]}", refusal: "1 to 256 bytes")
            ]
        case "ListsDiffInput.from": return diff("\"from\":\(ids(size)),\"to\":[]")
        case "ListsDiffInput.from[]": return diff("\"from\":[\(string)],\"to\":[]")
        case "ListsDiffInput.to": return diff("\"from\":[],\"to\":\(ids(size))")
        case "ListsDiffInput.to[]": return diff("\"from\":[],\"to\":[\(string)]")
        case "ShelfDiffInput.from": return shelfDiff("\"from\":\(ids(size))")
        case "ShelfDiffInput.from[]": return shelfDiff("\"from\":[\(string)]")
        case "ShelfDiffInput.limit": return shelfDiff("\"from\":[\"milk\"],\"limit\":\(size)")
        case "RememberedSortInput.transition_limit":
            return [
                Probe(
                    method: .put,
                    path: "/v1/me/stores/s/shelves/dairy/sort",
                    body: "{\"sort\":\"price\",\"transition_limit\":\(size)}"
                )
            ]
        case "SettingChange.key":
            let change = "{\"key\":\(string),\"value\":1,\"modified_at\":\"2025-01-01T00:00:00Z\"}"
            return [Probe(method: .put, path: "/v1/me/settings", body: "{\"settings\":[\(change)]}")]
        case "SettingChanges.settings":
            // The elements are incomplete, which is checked after their number.
            return [
                Probe(
                    method: .put,
                    path: "/v1/me/settings",
                    body: "{\"settings\":\(array(size, of: #"{"key":"a"}"#))}",
                    refusal: "at most 10000 settings"
                )
            ]
        default: return []
        }
    }

    private static func listProbes(_ place: String, _ size: Int, _ list: String, _ item: String) -> [Probe] {
        let lists = "/v1/me/lists"
        let string = size < 1_000_000 ? string(size) : ""
        let items = "\(lists)/\(list)/items"
        func each(_ schema: String, _ members: String) -> [Probe] {
            switch schema {
            case "ListItemInput":
                let body = members.contains("\"text\"") ? "{\(members)}" : "{\"text\":\"a\",\(members)}"
                return [
                    Probe(method: .post, path: items, body: body),
                    Probe(method: .post, path: items, body: "{\"items\":[\(body)]}"),
                ]
            case "ListItemChange":
                return [Probe(method: .patch, path: items, body: "{\"items\":[{\"id\":\"\(item)\",\(members)}]}")]
            case "ListItemPatch": return [Probe(method: .patch, path: "\(items)/\(item)", body: "{\(members)}")]
            default: return []
            }
        }
        let parts = place.split(separator: ".").map { String($0) }
        switch (parts[0], parts.count > 1 ? parts[1] : "") {
        case ("ListInput", "name"): return [Probe(method: .post, path: lists, body: "{\"name\":\(string)}")]
        case ("ListPatch", "name"):
            return [Probe(method: .patch, path: "\(lists)/\(list)", body: "{\"name\":\(string)}")]
        case ("ListItemInputs", "items"):
            return [Probe(method: .post, path: items, body: "{\"items\":\(array(size, of: #"{"text":"a"}"#))}")]
        case ("ListItemChanges", "items"):
            let change = "{\"id\":\"\(item)\",\"text\":\"b\"}"
            return [
                Probe(
                    method: .patch,
                    path: items,
                    body: "{\"items\":\(array(size, of: change))}",
                    refusal: "1 to 100 elements"
                )
            ]
        case (let schema, "text"): return each(schema, "\"text\":\(string)")
        case (let schema, "note"): return each(schema, "\"note\":\(string)")
        case (let schema, "quantity"): return each(schema, "\"quantity\":\(size)")
        default: return []
        }
    }

    private static func parameterProbes(_ place: String, _ size: Int, _ list: String) -> [Probe] {
        func get(_ paths: String...) -> [Probe] { paths.map { Probe(method: .get, path: $0) } }
        let store = "/v1/stores/s"
        switch place {
        case "?limit":
            return get(
                shelf + "/products?limit=\(size)",
                store + "/shelves?limit=\(size)",
                store + "/products?limit=\(size)",
                store + "/audit?limit=\(size)"
            )
        case "?barcode": return get("/v1/stores/s/products?barcode=\(text(size))")
        case "?q": return get(store + "/suggest?q=\(text(size))")
        case "?search":
            return get(
                shelf + "/products?q=\(text(size))",
                shelf + "/order?q=\(text(size))",
                store + "/products?q=\(text(size))"
            )
        case "?suggestion_limit": return get(store + "/suggest?q=mil&limit=\(size)")
        case "?window": return get(shelf + "/order/diff?from_sort=price&to_sort=-price&limit=\(size)")
        case "?skus":
            return get(store + "/products?" + (0..<size).map { "sku=\($0)" }.joined(separator: "&"))
        case "?since": return get("/v1/me/settings?since=\(size)", "/v1/me/lists?since=\(size)")
        case "?list_since": return get("/v1/me/lists/\(list)/items?since=\(size)")
        case "?audit_actor": return get(store + "/audit?actor=\(text(size))")
        case "?audit_subject": return get(store + "/audit?subject=\(text(size))")
        case "?setting_key":
            return [Probe(method: .put, path: "/v1/me/settings/\(text(size))", body: "{\"value\":1}")]
        case "?idempotency_key":
            let headers = ["Idempotency-Key": text(size)]
            return [
                Probe(method: .post, path: "/v1/me/lists", body: "{\"name\":\"a\"}", headers: headers),
                Probe(
                    method: .post,
                    path: shelf + "/order/moves",
                    body: #"{"moves":[{"ids":["milk"],"place":"last"}]}"#,
                    headers: headers
                ),
            ]
        default: return []
        }
    }
}
