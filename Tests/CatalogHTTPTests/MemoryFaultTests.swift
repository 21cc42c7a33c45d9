import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import JSON
import HTTPTypes
import Testing

/// Errors and rare variants of the endpoints, on the in-memory catalog.
@Suite(.timeLimit(.minutes(2))) struct MemoryFaultTests {
    private static let shelf = "/v1/stores/s/shelves/dairy"

    @Test(
        "A predefined setting must have an existing value",
        arguments: [
            ("stores%2Fs%2Fshelves%2Fdairy%2Fsort", #""cost""#), ("stores%2Fs%2Fshelves%2Fdairy%2Fsort", "1"),
            ("stores%2Fs%2Fshelves%2Fdairy%2Fsort", #"{"sort":"price","x":1}"#),
            ("stores%2Fs%2Fshelves%2Fdairy%2Fsort", #"{"sort":"cost"}"#), ("lists.sort", #""newest""#),
            ("lists.sink_checked", "1"), ("theme", "[1]"),
        ]
    )
    func settingsAreChecked(_ key: String, _ value: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let response = try await api.send(.put, "/v1/me/settings/\(key)", #"{"value":\#(value)}"#)
        #expect([400, 422].contains(response.status), "\(key)")
        #expect(response.text("parameter")?.hasPrefix("value") == true)
    }

    @Test("A setting above the size limit is rejected")
    func largeSettings() async throws {
        let api = try await MemoryAPI.withShelf()
        let text = String(repeating: "x", count: Setting.valueLimit)
        let response = try await api.send(.put, "/v1/me/settings/theme", #"{"value":"\#(text)"}"#)
        #expect(response.status == 422)
    }

    @Test("Merging a guest moves the guest's settings to the user")
    func guestsAreMerged() async throws {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.put, "/v1/me/settings/theme", #"{"value":"dark"}"#, as: "guest:1")
        let merged = try await api.send(.post, "/v1/me/merge", #"{"guest_token":"\#(api.token(of: "guest:1"))"}"#)
        #expect(merged.status == 200)
        #expect(merged.text("merged") == "1")
        #expect(try await api.send(.get, "/v1/me/settings").texts("settings", "key") == ["theme"])
    }

    @Test("An export contains the user's lists with their items, and their order changes")
    func exportsAreWhole() async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try await api.send(.post, "/v1/me/lists", #"{"name":"Weekly"}"#)
        let path = try #require(list.headers[.location])
        _ = try await api.send(.post, path + "/items", #"{"items":[{"text":"Bread"}]}"#)
        _ = try await api.send(.post, Self.shelf + "/order/moves", #"{"moves":[{"ids":["milk"],"position":0}]}"#)
        let export = try await api.send(.get, "/v1/me/export")
        #expect(export.texts("order_changes", "kind") == ["move"])
        #expect(export.json["lists"]?.text.contains("Bread") == true)
    }

    @Test(
        "Items are sorted by name, price, unit price and store layout",
        arguments: [
            ("name", ["brie", "curd", "milk"]), ("-name", ["milk", "curd", "brie"]),
            ("price", ["curd", "milk", "brie"]), ("-price", ["brie", "milk", "curd"]),
            ("unit_price", ["curd", "milk", "brie"]), ("shelf", ["brie", "curd", "milk"]),
        ]
    )
    func itemsAreSorted(_ sort: String, _ skus: [String]) async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try await api.send(.post, "/v1/me/lists", #"{"name":"Weekly"}"#)
        let path = try #require(list.headers[.location])
        let items = ["milk", "brie", "curd"].map { #"{"store":"s","sku":"\#($0)"}"# }.joined(separator: ",")
        _ = try await api.send(.post, path + "/items", #"{"items":[\#(items)]}"#)
        let sorted = try await api.send(.get, path + "/items?sort=\(sort)")
        #expect(sorted.texts("items", "sku") == skus)
    }

    @Test(
        "An invalid item is rejected with its field",
        arguments: [
            (#"{"text":""}"#, "text"), (#"{"text":"x","quantity":0}"#, "quantity"),
            (#"{"text":"x","quantity":"1.12345678901"}"#, "quantity"),
            (#"{"text":"x","modified_at":"today"}"#, "modified_at"), (#"{"note":"x"}"#, "text"),
            (#"{"text":"a\nb"}"#, "text"),
        ]
    )
    func itemsAreChecked(_ item: String, _ field: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try await api.send(.post, "/v1/me/lists", #"{"name":"Weekly"}"#)
        let path = try #require(list.headers[.location])
        let response = try await api.send(.post, path + "/items", #"{"items":[\#(item)]}"#)
        #expect([400, 422].contains(response.status))
        #expect(response.text("parameter")?.contains(field) == true, "\(response.body)")
    }

    @Test("Lists are sorted by name, by last modification and manually")
    func listsAreSorted() async throws {
        let api = try await MemoryAPI.withShelf()
        for name in ["b", "a", "c"] { _ = try await api.send(.post, "/v1/me/lists", #"{"name":"\#(name)"}"#) }
        #expect(try await api.send(.get, "/v1/me/lists?sort=name").texts("lists", "name") == ["a", "b", "c"])
        #expect(try await api.send(.get, "/v1/me/lists?sort=last-modified").texts("lists", "name") == ["c", "a", "b"])
        #expect(
            try await api.send(.get, "/v1/me/lists?sort=manual").texts("lists", "name") == ["b", "a", "c"]
        )
    }

    @Test("A read-only member gets 403 for a change")
    func readersDoNotWrite() async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try await api.send(.post, "/v1/me/lists", #"{"name":"Weekly"}"#)
        let path = try #require(list.headers[.location])
        let share = try await api.send(.post, path + "/shares", #"{"role":"reader"}"#)
        let token = try #require(share.text("token"))
        _ = try await api.send(.post, "/v1/me/lists/join", #"{"token":"\#(token)"}"#, as: "bob")
        #expect(try await api.send(.get, path, as: "bob").status == 200)
        #expect(try await api.send(.patch, path, #"{"name":"Mine"}"#, as: "bob").status == 403)
    }

    @Test("A JSON Patch removes, adds and moves items; a whole order replaces them")
    func patches() async throws {
        let api = try await MemoryAPI.withShelf()
        let accept = ["Accept": "application/json-patch+json"]
        let body = #"{"from":["a","b","c"],"to":["c","a","d"]}"#
        let patch = try await api.send(.post, "/v1/order/diff", body, accept)
        #expect(Set(patch.operations) == ["remove", "add", "move"])
        let whole = try await api.send(.post, "/v1/order/diff?mode=order", body, accept)
        #expect(whole.operations == ["replace"])
    }

    @Test("A body with a field of the wrong type is rejected")
    func wrongTypes() async throws {
        let api = try await MemoryAPI.withShelf()
        let store = #"{"title":"S","currency":"EUR","newcomer_boost":"x"}"#
        #expect(try await api.send(.put, "/v1/stores/s", store).text("parameter") == "newcomer_boost")
        let pricing = #"{"title":"S","currency":"EUR","unit_pricing":"moon"}"#
        #expect(try await api.send(.put, "/v1/stores/s", pricing).text("parameter") == "unit_pricing")
        #expect(try await api.send(.post, "/v1/order/diff", #"{"from":["a\u0000"],"to":[]}"#).status == 400)
        #expect(try await api.send(.post, "/v1/order/diff", #"{"from":["a"]}"#).status == 400)
        let title = String(repeating: "x", count: 5000)
        #expect(
            try await api.send(.put, "/v1/stores/s", #"{"title":"\#(title)","currency":"EUR"}"#).text("parameter")
                == "title"
        )
    }
}

extension MemoryAPI.Response {
    /// The operations of a JSON patch.
    fileprivate var operations: [String] {
        guard case .array(let steps) = json else { return [] }
        return steps.compactMap { if case .string(let name)? = $0["op"] { name } else { nil } }
    }
}
