import Catalog
import CatalogHTTP
import CatalogPostgres
import HTTPTypes
import InMemoryCatalog
import JSON
import NIOCore
import TestSupport
import Testing

/// Every documented operation with an `If-Match` parameter. The operations come from the description, so that a new one fails here
/// until it has a request.
@Suite(.timeLimit(.minutes(15))) struct IfMatchTests {
    struct Operation: Sendable {
        let id: String
        let method: HTTPRequest.Method
        let path: String
        /// The name of the component that describes the header.
        let header: String
    }

    enum Storage: CaseIterable, CustomTestStringConvertible {
        case memory, postgreSQL

        var testDescription: String {
            switch self {
            case .memory: "in memory"
            case .postgreSQL: "in PostgreSQL"
            }
        }

        /// Runs a body with a server on an empty catalog.
        func withServer(_ body: @escaping @Sendable (any TestClient) async throws -> Void) async throws {
            switch self {
            case .memory:
                let catalog = InMemoryCatalog(collate: collator)
                try await TestAPI.run(await TestAPI.api(catalog.storage, importer: TestAPI.NoImports()), body)
            case .postgreSQL: try await TestAPI.withServer { client, _ in try await body(client) }
            }
        }
    }

    private struct Response {
        let status: Int
        let json: JSONValue
        let text: String
        let tag: String?
    }

    /// A resource that has changed since a client read it, and the parts of requests that change it.
    private struct Resource {
        /// The values of the path's parameters.
        var parameters: [String: String] = [:]
        /// The entity tag before the last change.
        var stale = ""
        var current = ""
        /// The paths whose responses show the resource.
        var views: [String] = []
        /// The ids of the items of a list.
        var items: [String] = []
    }

    static let operations: [Operation] = {
        let document = try! JSONReader.parse(OpenAPI.document)
        let components = document["components"]?["parameters"]?.members ?? []
        let headers = Set(components.filter { $0.value["name"] == .string("If-Match") }.map(\.name))
        var operations: [Operation] = []
        for path in document["paths"]?.members ?? [] {
            for operation in path.value.members ?? [] {
                let references = (operation.value["parameters"]?.elements ?? []).compactMap { $0["$ref"]?.string }
                let names = references.compactMap { $0.split(separator: "/").last.map { String($0) } }
                guard let header = names.first(where: headers.contains) else { continue }
                operations.append(
                    Operation(
                        id: operation.value["operationId"]?.string ?? "",
                        method: HTTPRequest.Method(operation.name.uppercased())!,
                        path: path.name,
                        header: header
                    )
                )
            }
        }
        return operations
    }()

    private func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        ifMatch tag: String? = nil,
        as user: String? = nil
    ) async throws -> Response {
        var headers: HTTPFields = [.contentType: "application/json"]
        let scopes: Set<Scope> = user == nil ? [.catalogWrite] : []
        headers[.authorization] = "Bearer " + (try await TestAPI.token(user ?? "merchandiser", scopes))
        if let tag { headers[.ifMatch] = tag }
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: headers,
            body: method == .get ? nil : ByteBuffer(string: body ?? "")
        )
        let json = (try? JSONReader.parse(Array(buffer: response.body))) ?? .null
        return Response(
            status: response.status.code,
            json: json,
            text: String(buffer: response.body),
            tag: response.headers[.eTag]
        )
    }

    /// Sends a request that must succeed.
    @discardableResult
    private func prepare(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil
    ) async throws -> Response {
        let response = try await send(client, method, path, body)
        try #require((200..<300).contains(response.status), "\(method) \(path): \(response.text)")
        return response
    }

    /// Returns what clients see of a resource. The entity tags are part of it.
    private func shown(_ client: any TestClient, _ resource: Resource) async throws -> [String] {
        var shown: [String] = []
        for path in resource.views {
            let response = try await send(client, .get, path)
            shown.append(response.status == 200 ? "\(response.tag ?? "") \(response.text)" : "\(response.status)")
        }
        return shown
    }

    // MARK: - Resources

    private static let products = ["a", "b", "c"]

    private func createStore(_ client: any TestClient) async throws {
        try await prepare(client, .put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        for sku in Self.products {
            try await prepare(client, .put, "/v1/stores/s/products/\(sku)", #"{"name":"\#(sku)","price_minor":1}"#)
        }
    }

    /// Creates a resource for an operation and changes it; nil for an unknown kind of entity tag.
    ///
    /// - Parameter number: different for each resource.
    private func resource(
        for operation: Operation,
        _ number: Int,
        _ client: any TestClient
    ) async throws -> Resource? {
        switch operation.header {
        case "order_if_match": return try await shelf(number, client)
        case "shelves_if_match": return try await shelves(number, client)
        case "setting_if_match": return try await setting(operation, number, client)
        case "list_if_match": return try await list(number, client)
        case "attribute_if_match": return try await attribute(operation, number, client)
        case "synonyms_if_match": return try await synonyms(operation, number, client)
        default: return nil
        }
    }

    /// Creates a shelf with the manual order c, a, b.
    private func shelf(_ number: Int, _ client: any TestClient) async throws -> Resource {
        let key = "x\(number)"
        let path = "/v1/stores/s/shelves/\(key)"
        try await prepare(client, .put, path, #"{"title":"X"}"#)
        for sku in Self.products { try await prepare(client, .put, "\(path)/products/\(sku)") }
        try await prepare(client, .put, path + "/order", #"{"ids":["c","b","a"]}"#)
        func tag() async throws -> String {
            let order = try await prepare(client, .get, path + "/order?sort=position")
            return try #require(order.tag)
        }
        var resource = Resource(parameters: ["store": "s", "shelf": key])
        resource.stale = try await tag()
        try await prepare(client, .post, path + "/order/moves", #"{"moves":[{"ids":["b"],"place":"last"}]}"#)
        resource.current = try await tag()
        resource.views = [path + "/order?sort=position", path + "/order/changes"]
        return resource
    }

    /// Creates a store with the shelves q, r, p, in this order.
    private func shelves(_ number: Int, _ client: any TestClient) async throws -> Resource {
        let store = "m\(number)"
        let path = "/v1/stores/\(store)"
        try await prepare(client, .put, path, #"{"title":"M","currency":"EUR"}"#)
        for shelf in ["p", "q", "r"] { try await prepare(client, .put, "\(path)/shelves/\(shelf)", #"{"title":"X"}"#) }
        func moveFirst(_ shelf: String) async throws -> String {
            let body = #"{"moves":[{"ids":["\#(shelf)"],"place":"first"}]}"#
            let moved = try await prepare(client, .post, path + "/shelves/order/moves", body)
            return try #require(moved.tag)
        }
        var resource = Resource(parameters: ["store": store])
        resource.stale = try await moveFirst("r")
        resource.current = try await moveFirst("q")
        resource.views = [path + "/shelves?sort=position"]
        return resource
    }

    /// Creates a setting or remembered sort, and changes it.
    private func setting(_ operation: Operation, _ number: Int, _ client: any TestClient) async throws -> Resource {
        var resource = Resource(parameters: ["key": "t\(number)", "store": "s", "shelf": "y\(number)"])
        let isSort = !operation.path.contains("{key}")
        if isSort { try await prepare(client, .put, "/v1/stores/s/shelves/y\(number)", #"{"title":"Y"}"#) }
        let path = Self.path(operation, resource)
        for (index, value) in ["price", "-price"].enumerated() {
            let body = isSort ? #"{"sort":"\#(value)"}"# : #"{"value":"\#(value)"}"#
            let tag = try #require(try await prepare(client, .put, path, body).tag)
            if index == 0 { resource.stale = tag } else { resource.current = tag }
        }
        resource.views = [path]
        return resource
    }

    /// Creates a list with two items, and renames it.
    private func list(_ number: Int, _ client: any TestClient) async throws -> Resource {
        let created = try await prepare(client, .post, "/v1/me/lists", #"{"name":"a"}"#)
        let id = try #require(created.json["id"]?.string)
        let path = "/v1/me/lists/\(id)"
        var resource = Resource(parameters: ["list": id])
        for text in ["x", "y"] {
            let added = try await prepare(client, .post, path + "/items", #"{"text":"\#(text)"}"#)
            resource.items.append(try #require(added.json["items"]?.elements?.first?["id"]?.string))
        }
        resource.parameters["item"] = resource.items[0]
        let old = try await prepare(client, .get, path)
        try await prepare(client, .patch, path, #"{"name":"b"}"#)
        let new = try await prepare(client, .get, path)
        (resource.stale, resource.current) = (try #require(old.tag), try #require(new.tag))
        resource.views = [path, path + "/items"]
        return resource
    }

    /// Declares an attribute, and changes its title.
    private func attribute(_ operation: Operation, _ number: Int, _ client: any TestClient) async throws -> Resource {
        var resource = Resource(parameters: ["store": "s", "attribute": "a\(number)"])
        let path = Self.path(operation, resource)
        func tag(_ body: String) async throws -> String {
            let declared = try await prepare(client, .put, path, body)
            return try #require(declared.tag)
        }
        resource.stale = try await tag(#"{"type":"text"}"#)
        resource.current = try await tag(#"{"type":"text","title":{"en":"B"}}"#)
        resource.views = [path]
        return resource
    }

    /// Sets synonyms, and replaces them.
    private func synonyms(_ operation: Operation, _ number: Int, _ client: any TestClient) async throws -> Resource {
        var resource = Resource(parameters: ["store": "s"])
        let path = Self.path(operation, resource)
        func tag(_ word: String) async throws -> String {
            let set = try await prepare(client, .put, path, #"{"synonyms":[["a\#(number)","\#(word)"]]}"#)
            return try #require(set.tag)
        }
        resource.stale = try await tag("b")
        resource.current = try await tag("c")
        resource.views = [path]
        return resource
    }

    // MARK: - Requests

    /// Returns a new resource, and the path and body of a request that changes it. Records an issue if this suite has none.
    private func request(
        for operation: Operation,
        _ number: Int,
        _ client: any TestClient
    ) async throws -> (resource: Resource, path: String, body: String)? {
        guard let resource = try await resource(for: operation, number, client),
            let body = Self.body(operation, resource)
        else {
            Issue.record("\(operation.id) has an If-Match, but no request here")
            return nil
        }
        return (resource, Self.path(operation, resource), body)
    }

    private static func path(_ operation: Operation, _ resource: Resource) -> String {
        resource.parameters.reduce(operation.path) { $0.replacing("{\($1.key)}", with: $1.value) }
    }

    /// Returns the body of a request that changes the resource; nil for an unknown operation.
    private static func body(_ operation: Operation, _ resource: Resource) -> String? {
        switch operation.id {
        case "setOrder": #"{"ids":["b","a","c"]}"#
        case "moveProducts": #"{"moves":[{"ids":["b"],"place":"first"}]}"#
        case "undoOrderChange", "forgetSort", "deleteSetting", "deleteList", "deleteListItem", "deleteAttribute",
            "deleteStoreAttribute", "deleteSynonyms", "deleteStoreSynonyms":
            ""
        case "putAttribute", "putStoreAttribute": #"{"type":"text","title":{"en":"C"}}"#
        case "putSynonyms", "putStoreSynonyms": #"{"synonyms":[["pop","soda"]]}"#
        case "moveShelves": #"{"moves":[{"ids":["p"],"place":"first"}]}"#
        case "rememberSort": #"{"sort":"name"}"#
        case "putSetting": #"{"value":"name"}"#
        case "patchList": #"{"name":"c"}"#
        case "addListItems": #"{"text":"z"}"#
        case "patchListItems": #"{"items":[{"id":"\#(resource.items[0])","text":"z"}]}"#
        case "patchListItem": #"{"text":"z"}"#
        case "moveListItems": #"{"moves":[{"ids":["\#(resource.items[1])"],"place":"first"}]}"#
        default: nil
        }
    }

    /// Returns the version in an entity tag: the first number.
    private static func version(_ tag: String) -> Int64? {
        Int64(tag.drop { !$0.isNumber }.prefix { $0.isNumber })
    }

    /// Returns an entity tag with another version.
    private static func tag(_ tag: String, plus difference: Int64) throws -> String {
        let version = try #require(Self.version(tag))
        return tag.replacing("\(version)", with: "\(version + difference)", maxReplacements: 1)
    }

    /// The headers whose entity tags are made of the content, and have no version.
    private static let contentTags: Set = ["attribute_if_match", "synonyms_if_match"]

    /// The member of the problem that has the current version.
    private static let members = [
        "order_if_match": "order_version", "shelves_if_match": "order_version", "setting_if_match": "revision",
        "list_if_match": "version",
    ]

    @Test("The description has operations with If-Match for orders, shelves, settings, lists, attributes and synonyms")
    func operationsAreFound() {
        #expect(Self.operations.count >= 15)
        #expect(Set(Self.operations.map(\.header)) == Self.contentTags.union(Self.members.keys))
    }

    @Test(
        "Each operation with If-Match rejects every version but the current one, and changes nothing",
        arguments: Storage.allCases
    )
    func otherVersionsAreRejected(_ storage: Storage) async throws {
        try await storage.withServer { client in
            try await createStore(client)
            for (number, operation) in Self.operations.enumerated() {
                guard let (resource, path, body) = try await request(for: operation, number, client) else { continue }
                let before = try await shown(client, resource)
                guard let member = Self.members[operation.header] else {
                    for tag in [resource.stale, "\(resource.stale), \"x\"", "\"x\""] {
                        let found = try await send(client, operation.method, path, body, ifMatch: tag)
                        #expect(found.status == 412, "\(operation.id) \(tag): \(found.text)")
                        #expect(found.tag == resource.current, "\(operation.id) \(tag)")
                    }
                    #expect(try await shown(client, resource) == before, "\(operation.id)")
                    continue
                }
                let version = JSONValue.integer(Self.version(resource.current))
                let (older, newer) = (
                    try Self.tag(resource.current, plus: -1), try Self.tag(resource.current, plus: 1)
                )
                for tag in [resource.stale, older, newer, "\(resource.stale), \(newer)"] {
                    let found = try await send(client, operation.method, path, body, ifMatch: tag)
                    #expect(found.status == 412, "\(operation.id) \(tag): \(found.text)")
                    #expect(found.json[member] == version, "\(operation.id) \(tag): \(found.text)")
                    #expect(found.tag.flatMap(Self.version) == Self.version(resource.current), "\(operation.id)")
                }
                for tag in ["\"x\"", "W/" + resource.current, resource.current.replacing("\"", with: ""), ","] {
                    let found = try await send(client, operation.method, path, body, ifMatch: tag)
                    #expect(found.status == 400, "\(operation.id) \(tag): \(found.text)")
                    #expect(found.json["parameter"] == .string("If-Match"), "\(operation.id) \(tag)")
                }
                #expect(try await shown(client, resource) == before, "\(operation.id)")
            }
        }
    }

    @Test(
        "Each operation with If-Match accepts the current version, a list with it, the tag of a rejection, and *",
        arguments: Storage.allCases
    )
    func currentVersionIsAccepted(_ storage: Storage) async throws {
        try await storage.withServer { client in
            try await createStore(client)
            for (number, operation) in Self.operations.enumerated() {
                for (variant, name) in ["current", "list", "any", "rejection"].enumerated() {
                    guard let (resource, path, body) = try await request(for: operation, 4 * number + variant, client)
                    else { continue }
                    let before = try await shown(client, resource)
                    var tag = resource.current
                    if name == "list" { tag = "\(resource.stale), \(resource.current)" }
                    if name == "any" { tag = "*" }
                    if name == "rejection" {
                        let stale = try await send(client, operation.method, path, body, ifMatch: resource.stale)
                        tag = try #require(stale.tag)
                    }
                    let found = try await send(client, operation.method, path, body, ifMatch: tag)
                    #expect((200..<300).contains(found.status), "\(operation.id) \(name): \(found.text)")
                    #expect(try await shown(client, resource) != before, "\(operation.id) \(name)")
                    // The version is used up.
                    guard operation.method != .delete else { continue }
                    let repeated = try await send(client, operation.method, path, body, ifMatch: resource.current)
                    #expect(repeated.status == 412, "\(operation.id) \(name): \(repeated.text)")
                }
            }
        }
    }

    @Test("If-Match: * requires that the resource exists", arguments: Storage.allCases)
    func anyVersionRequiresTheResource(_ storage: Storage) async throws {
        try await storage.withServer { client in
            try await createStore(client)
            for operation in Self.operations {
                let id = UniqueID.random().text
                var resource = Resource(
                    parameters: [
                        "store": "none", "shelf": "none", "list": id, "item": id, "key": "none", "attribute": "none",
                    ],
                    items: [id, id]
                )
                // The store and the shelf exist, but not the setting, the attribute or the synonyms.
                let isPart = ["setting_if_match", "attribute_if_match", "synonyms_if_match"].contains(operation.header)
                if isPart {
                    try await prepare(client, .put, "/v1/stores/s/shelves/none", #"{"title":"X"}"#)
                    resource.parameters["store"] = "s"
                }
                guard let body = Self.body(operation, resource) else {
                    Issue.record("\(operation.id) has an If-Match, but no request here")
                    continue
                }
                let path = Self.path(operation, resource)
                let found = try await send(client, operation.method, path, body, ifMatch: "*")
                let expected = isPart ? 412 : 404
                #expect(found.status == expected, "\(operation.id): \(found.text)")
                guard isPart else { continue }
                #expect(found.json["revision"] == nil || found.json["revision"] == .null, "\(operation.id)")
                #expect(try await send(client, .get, path).status == 404, "\(operation.id)")
            }
        }
    }

    @Test("A member who leaves a list with a stale If-Match gets 412 and stays", arguments: Storage.allCases)
    func leavingChecksTheVersion(_ storage: Storage) async throws {
        try await storage.withServer { client in
            let resource = try await list(0, client)
            let path = "/v1/me/lists/" + (try #require(resource.parameters["list"]))
            for role in ["reader", "editor"] {
                // The user has the name of the role.
                let share = try await prepare(client, .post, path + "/shares", #"{"role":"\#(role)"}"#)
                let token = try #require(share.json["token"]?.string)
                let body = #"{"token":"\#(token)"}"#
                let joined = try await send(client, .post, "/v1/me/lists/join", body, as: role)
                #expect(joined.status == 200, "\(joined.text)")
                let shown = try await send(client, .get, path, as: role)
                let current = try #require(shown.tag)
                let newer = try Self.tag(current, plus: 1)
                for tag in [resource.stale, newer] {
                    let stale = try await send(client, .delete, path, ifMatch: tag, as: role)
                    #expect(stale.status == 412, "\(role) \(tag): \(stale.text)")
                    #expect(stale.json["version"] == .integer(Self.version(current)))
                }
                #expect(try await send(client, .get, path, as: role).status == 200)
                #expect(try await send(client, .delete, path, ifMatch: current, as: role).status == 204)
                #expect(try await send(client, .get, path, as: role).status == 404)
            }
        }
    }
}
