import Catalog
import CatalogHTTP
import CatalogPostgres
import HTTPTypes
import JSON
import NIOCore
import TestSupport
import Testing

/// Declarations and values of attributes that are refused, over a real socket and a real database.
@Suite(.timeLimit(.minutes(15))) struct AttributeAPITests {
    private static let milk = "/v1/stores/s/products/milk"

    private struct Response: Sendable {
        let status: Int
        let json: JSONValue

        func text(_ name: String) -> String? { json[name]?.string }
    }

    private static func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil
    ) async throws -> Response {
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: [.contentType: "application/json"],
            body: body.map { ByteBuffer(string: $0) }
        )
        let bytes = Array(buffer: response.body)
        return Response(status: response.status.code, json: bytes.isEmpty ? .null : try JSONReader.parse(bytes))
    }

    /// Runs a body with a server whose store has declared attributes and a product with values.
    private static func withServer(_ body: @escaping @Sendable (any TestClient) async throws -> Void) async throws {
        try await TestAPI.withServer { client, catalog in
            let store = CatalogKey("s")!
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            for (name, declaration) in [
                ("rating", #"{"type":"number","decimals":1}"#), ("remark", #"{"type":"text"}"#),
                ("grade", #"{"type":"enum","values":[{"key":"a"},{"key":"b"}]}"#),
            ] {
                let path = "/v1/attributes/\(name)"
                #expect(try await send(client, .put, path, declaration).status == 201)
            }
            let product = #"{"name":"Milk","attributes":{"rating":4.5,"remark":"fresh","grade":"a"}}"#
            #expect(try await send(client, .put, milk, product).status == 201)
            try await body(client)
        }
    }

    @Test(
        "A value that is too long or has another type is refused with its name and what it must be, and changes nothing"
    )
    func refusedValues() async throws {
        try await Self.withServer { client in
            let before = try await Self.send(client, .get, Self.milk).json
            for (attributes, parameter, detail) in [
                (
                    #"{"rating":4,"remark":"\#(String(repeating: "x", count: 5 << 10))"}"#, "attributes.remark",
                    "attributes.remark is too long: attributes must be an object of at most 4096 bytes"
                ),
                (
                    #"{"remark":"\#(String(repeating: "x", count: 501))"}"#, "attributes.remark",
                    "attributes.remark must be a printable text of 1 to 500 bytes (got "
                ),
                (
                    #"{"rating":"good"}"#, "attributes.rating",
                    "attributes.rating must be a number with at most 1 decimal and at most 14 digits before the point (got "
                ),
                (
                    #"{"rating":4.55}"#, "attributes.rating",
                    "attributes.rating must be a number with at most 1 decimal and at most 14 digits before the point (got "
                ),
                (
                    #"{"grade":"c"}"#, "attributes.grade",
                    "attributes.grade must be one of the declared values: a, b (got "
                ),
            ] {
                for (method, body) in [
                    (.patch, #"{"attributes":\#(attributes)}"#),
                    (.put, #"{"name":"Milk","attributes":\#(attributes)}"#),
                ] as [(HTTPRequest.Method, String)] {
                    let problem = try await Self.send(client, method, Self.milk, body)
                    #expect(problem.status == 422 && problem.text("parameter") == parameter, "\(method): \(parameter)")
                    #expect(problem.text("detail")?.hasPrefix(detail) == true, "\(problem.json.text.prefix(300))")
                }
            }
            #expect(try await Self.send(client, .get, Self.milk).json == before)
        }
    }

    @Test("A declaration that contradicts another owner's, or has a reserved name, is refused and says what to do")
    func refusedDeclarations() async throws {
        try await Self.withServer { client in
            let own = "/v1/stores/s/attributes"
            #expect(try await Self.send(client, .put, own + "/origin", #"{"type":"text"}"#).status == 201)
            for (path, declaration, status, detail) in [
                (
                    own + "/rating", #"{"type":"text"}"#, 409,
                    """
                    the deployment declares “rating” as number with other parameters; leave out all properties but title and values, or \
                    choose another name
                    """
                ),
                (
                    "/v1/attributes/origin", #"{"type":"boolean"}"#, 409,
                    """
                    store “s” declares “origin” as text with other parameters; delete that declaration first, or choose another name
                    """
                ),
                (
                    own + "/price", #"{"type":"text"}"#, 422,
                    "“price” is reserved for the API; choose another name, such as “my_price”"
                ),
                (
                    own + "/rating_min", #"{"type":"text"}"#, 422,
                    "“rating_min” ends in “_min”, which is reserved for filters by attributes; choose another name"
                ),
                (
                    own + "/colour", #"{"title":{"en":"Colour"}}"#, 422,
                    "type is required: the deployment does not declare “colour”"
                ),
            ] {
                let problem = try await Self.send(client, .put, path, declaration)
                #expect(problem.status == status, "\(path)")
                #expect(problem.text("detail") == detail, "\(path)")
            }
            let list = try await Self.send(client, .get, own)
            let names = list.json["attributes"]?.elements?.compactMap { $0["name"]?.string }
            #expect(names == ["grade", "origin", "rating", "remark"])
        }
    }
}
