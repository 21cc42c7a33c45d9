import JSON
import AisleDiff
import Catalog
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import TestSupport

extension APITests {
    private func post(
        _ client: any TestClient,
        _ path: String,
        _ body: String,
        accept: String? = nil
    ) async throws -> TestResponse {
        var headers: HTTPFields = [.contentType: "application/json"]
        if let accept { headers[.accept] = accept }
        return try await client.execute(uri: path, method: .post, headers: headers, body: ByteBuffer(string: body))
    }

    private func decode(_ response: TestResponse) throws -> ShelfDiff<NoProduct> {
        try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data(Array(buffer: response.body)))
    }

    private func order(_ client: any TestClient, _ sort: String) async throws -> [String] {
        struct Order: Decodable { var ids: [String] }
        let response = try await get(client, "/v1/stores/s/shelves/dairy/order?sort=\(sort)")
        return try JSONDecoder().decode(Order.self, from: Data(Array(buffer: response.body))).ids
    }

    private static let path = "/v1/stores/s/shelves/dairy/order/diff"

    @Test("The documented diff is returned byte by byte")
    func returnsDocumentedDiff() async throws {
        try await withServer { (client: any TestClient) async throws in
            let lists = #"{"from":["a","b","c","d","e","f"],"to":["c","d","x","f","b","e"]}"#
            let response = try await post(client, "/v1/order/diff", lists)
            #expect(
                String(buffer: response.body) == """
                    {"from_version":null,"to_version":null,"old_count":6,"new_count":6,"mode":"moves",\
                    "deletes":[{"id":"a","from":0}],"inserts":[{"id":"x","to":2,"after":"d"}],\
                    "moves":[{"id":"f","from":5,"to":3,"after":"x"},{"id":"b","from":1,"to":4,"after":"f"}],"changed":[]}
                    """
            )
            let patch = try await post(client, "/v1/order/diff", lists, accept: "application/json-patch+json")
            #expect(patch.headers[.contentType] == "application/json-patch+json")
            #expect(
                String(buffer: patch.body) == """
                    [{"op":"remove","path":"/0"},{"op":"add","path":"/3","value":"x"},\
                    {"op":"move","from":"/5","path":"/4"},{"op":"move","from":"/0","path":"/4"}]
                    """
            )
            let wire = try await post(
                client,
                "/v1/order/diff",
                lists,
                accept: "application/json;q=0.5, application/vnd.aisle.diff"
            )
            #expect(wire.headers[.contentType] == "application/vnd.aisle.diff")
            #expect(wire.headers[.vary] == "Accept, Origin")
            let read = try ShelfDiff<NoProduct>(wireForm: Array(buffer: wire.body))
            #expect(try read.apply(to: ["a", "b", "c", "d", "e", "f"]) == ["c", "d", "x", "f", "b", "e"])
        }
    }

    @Test("A diff leads from any sort to any other")
    func diffsLeadBetweenSorts() async throws {
        try await withServer { (client: any TestClient) async throws in
            for from in ["price", "-price", "unit_price", "position"] {
                for to in ["-unit_price", "name", "position", "price"] {
                    let response = try await get(client, Self.path + "?from_sort=\(from)&to_sort=\(to)")
                    #expect(response.headers[.cacheControl] == "public, no-cache")
                    let diff = try decode(response)
                    #expect(try diff.apply(to: await order(client, from)) == (try await order(client, to)))
                    let tag = try #require(response.headers[.eTag])
                    #expect(
                        try await get(client, Self.path + "?from_sort=\(from)&to_sort=\(to)", [.ifNoneMatch: tag])
                            .status == .notModified
                    )
                }
            }
            let own = try await get(client, Self.path + "?to_sort=price")
            #expect(own.headers[.cacheControl] == "private, no-cache")
            #expect(try json(own)["from_sort"] == .string("name"))
        }
    }

    @Test("Products that enter the window include their data")
    func insertsIncludeProducts() async throws {
        try await withServer { (client: any TestClient) async throws in
            let response = try await get(client, Self.path + "?from_sort=price&to_sort=-price&limit=5")
            let window = Array(try await order(client, "price").prefix(5))
            #expect(try decode(response).apply(to: window) == Array(try await order(client, "-price").prefix(5)))
            let inserts = try #require(try json(response)["inserts"]?.elements)
            #expect(!inserts.isEmpty)
            #expect(inserts.allSatisfy { $0["product"]?["sku"] == $0["id"] && $0["product"]?["unit_price"] != nil })
            let whole = try #require(try json(try await get(client, Self.path + "?to_sort=price"))["inserts"]?.elements)
            #expect(whole.isEmpty)
        }
    }

    @Test("A diff from the client's list handles unknown and missing ids")
    func diffFromUnknownIDs()
        async throws
    {
        try await withServer { (client: any TestClient) async throws in
            let shown = ["gone", "m3", "m1", "old one"]
            let answer = try await post(
                client,
                Self.path,
                #"{"from":["gone","m3","m1","old one"],"to_sort":"name","limit":4}"#
            )
            #expect(try decode(answer).apply(to: shown) == Array(try await order(client, "name").prefix(4)))
            #expect(try json(answer)["from_version"] == .null)
            let deletes = try #require(try json(answer)["deletes"]?.elements)
            #expect(deletes.contains { $0["id"] == .string("gone") })
            let empty = try await post(client, Self.path, #"{"from":[]}"#)
            #expect(try decode(empty).apply(to: []) == (try await order(client, "name")))
        }
    }

    @Test("The whole order is returned on request, or if most products move")
    func returnsWholeOrder() async throws {
        try await withServer { (client: any TestClient) async throws in
            let reversed = #"{"from":["a","b","c","d"],"to":["d","c","b","a"]}"#
            let auto = try json(try await post(client, "/v1/order/diff?mode=auto", reversed))
            #expect(auto["mode"] == .string("order"))
            #expect(auto["moves"] == nil)
            #expect(auto["ids"] == .array(["d", "c", "b", "a"].map { .string($0) }))
            let one = #"{"from":["a","b","c","d"],"to":["b","c","d","a"]}"#
            #expect(try json(try await post(client, "/v1/order/diff?mode=auto", one))["mode"] == .string("moves"))
            #expect(try json(try await post(client, "/v1/order/diff?mode=order", one))["mode"] == .string("order"))
            let patch = try await post(client, "/v1/order/diff?mode=order", one, accept: "application/json-patch+json")
            #expect(String(buffer: patch.body) == #"[{"op":"replace","path":"","value":["b","c","d","a"]}]"#)
            let wire = try await post(client, "/v1/order/diff?mode=order", one, accept: "application/vnd.aisle.diff")
            #expect(
                try ShelfDiff<NoProduct>(wireForm: Array(buffer: wire.body)).apply(to: ["a", "b", "c", "d"]) == [
                    "b", "c", "d", "a",
                ]
            )
        }
    }

    @Test(
        "Lists that cannot be compared are rejected",
        arguments: [
            (#"{"from":["a","a"],"to":[]}"#, 422), (#"{"from":[],"to":["b","b"]}"#, 422),
            (#"{"from":[""],"to":[]}"#, 422),
            (#"{"from":["a"]}"#, 400), (#"{"from":["a"],"to":"b"}"#, 400), (#"{"from":["a"],"to":[1]}"#, 400),
            (#"{"from":["a"],"to":[],"more":1}"#, 400), ("[]", 400), ("", 400),
        ]
    )
    func rejectsIncomparableLists(_ body: String, _ status: Int) async throws {
        try await withServer { (client: any TestClient) async throws in
            #expect(try await post(client, "/v1/order/diff", body).status.code == status)
        }
    }

    @Test("A repeated diff request gets the recorded response")
    func repeatedDiffGetsRecordedResponse() async throws {
        try await withServer { (client: any TestClient) async throws in
            func send(_ path: String, _ body: String) async throws -> (Int, String) {
                let response = try await client.execute(
                    uri: path,
                    method: .post,
                    headers: [.contentType: "application/json", .init("Idempotency-Key")!: "d"],
                    body: ByteBuffer(string: body)
                )
                return (response.status.code, String(buffer: response.body))
            }
            let lists = #"{"from":["a"],"to":["b"]}"#
            #expect(try await send("/v1/order/diff", lists) == (try await send("/v1/order/diff", lists)))
            #expect(try await send("/v1/order/diff", #"{"from":["a"],"to":["c"]}"#).0 == 422)
            let first = try await send(Self.path, #"{"from":["m1"],"to_sort":"name","limit":3}"#)
            _ = try await put(client, "/v1/stores/s/products/m0", #"{"name":"Zero"}"#)
            #expect(try await send(Self.path, #"{"from":["m1"],"to_sort":"name","limit":3}"#) == first)
        }
    }

    @Test("Invalid combinations of diff parameters are rejected")
    func rejectsInvalidCombinations() async throws {
        try await withServer { (client: any TestClient) async throws in
            for query in [
                "from_sort=prize", "to_sort=", "limit=0", "limit=x", "limit=10001", "mode=least", "sort=price",
            ] {
                let response = try await get(client, Self.path + "?" + query)
                #expect(response.status == .badRequest, "\(query)")
                let name = String(query.prefix { $0 != "=" })
                #expect(try json(response)["parameter"] == .string(name))
            }
            #expect(try await post(client, Self.path, #"{"from":["a","b","a"]}"#).status == .unprocessableContent)
            #expect(try await post(client, Self.path, #"{"from":[],"limit":0}"#).status == .badRequest)
            #expect(
                try await post(client, "/v1/stores/s/shelves/none/order/diff", #"{"from":[]}"#).status == .notFound
            )
            let many = "[" + (0...200_000).map { "\"\($0)\"" }.joined(separator: ",") + "]"
            #expect(try await post(client, "/v1/order/diff", #"{"from":\#(many),"to":[]}"#).status == .contentTooLarge)
            let huge = #"{"from":[""# + String(repeating: "x", count: 17 << 20) + #""],"to":[]}"#
            #expect(try await post(client, "/v1/order/diff", huge).status == .contentTooLarge)
        }
    }
}
