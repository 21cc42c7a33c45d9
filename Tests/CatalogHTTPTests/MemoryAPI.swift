import JSON
import Catalog
import Live
import CatalogJSON
import HTTPTypes
import Hummingbird
import InMemoryCatalog
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// The API on the in-memory catalog, called without a socket.
struct MemoryAPI {
    struct Response {
        let status: Int
        let headers: HTTPFields
        let body: [UInt8]

        /// The body as JSON; null if it is not JSON.
        var json: JSONValue { (try? JSONReader.parse(body)) ?? .null }

        func text(_ name: String) -> String? {
            guard case .string(let text)? = json[name] else { return json[name]?.text }
            return text
        }

        func texts(_ list: String, _ name: String? = nil) -> [String] {
            guard case .array(let values)? = json[list] else { return [] }
            return values.map { value in
                let part = name.flatMap { value[$0] } ?? value
                if case .string(let text) = part { return text }
                return part.text
            }
        }
    }

    static let secret = Array("a secret of thirty-two bytes, or more".utf8)
    let catalog: InMemoryCatalog
    let api: CatalogAPI

    /// An importer that rejects every file.
    private struct NoImports: CatalogImporting {
        func importFile<Chunks: AsyncSequence>(
            _ chunks: Chunks,
            _ options: ImportOptions,
            onReject: (ImportRejection) throws -> Void,
            onProgress: (Int) -> Void,
            onPrune: ([ShelfRemoval]) throws -> Bool
        ) async throws(CatalogError) -> ImportSummary where Chunks.Element == [UInt8] { throw .unavailable }
    }

    /// - Parameters:
    ///   - audit: nil for that of the catalog, as the other stores.
    ///   - change: changes the options.
    init(
        suggestions: (any SuggestionStore)? = nil,
        audit: (any AuditStore)? = nil,
        readiness: (any ReadinessSource)? = nil,
        states: (any StateSource)? = nil,
        observer: Observer<HTTPObservation> = .none,
        _ change: (inout CatalogAPI.Options) -> Void = { _ in }
    ) async {
        catalog = InMemoryCatalog(collate: collator)
        let all = catalog.storage
        var options = CatalogAPI.Options()
        options.rejectionDelay = .zero
        change(&options)
        api = CatalogAPI(
            catalog: CatalogStorage(
                shelves: all.shelves,
                products: all.products,
                attributes: all.attributes,
                synonyms: all.synonyms,
                suggestions: suggestions ?? all.suggestions,
                pages: all.pages,
                manualOrder: all.manualOrder,
                purchases: all.purchases,
                prices: all.prices,
                settings: all.settings,
                users: all.users,
                lists: all.lists,
                versions: all.versions,
                responses: all.responses,
                importProfiles: all.importProfiles,
                audit: audit ?? all.audit,
                readiness: readiness ?? all.readiness,
                states: states ?? all.states
            ),
            importer: NoImports(),
            key: DeploymentKey(Array("test".utf8)),
            verifier: TokenVerifier(keys: TokenKeys(secrets: [Self.secret])),
            live: LiveHub(pages: catalog, versions: catalog, source: nil),
            options: options,
            observer: observer
        )
    }

    /// A body writer that collects its bytes.
    private struct Collector: ResponseBodyWriter {
        final class Bytes: Sendable { let all = Mutex<[UInt8]>([]) }
        let bytes: Bytes

        func write(_ buffer: ByteBuffer) async throws { bytes.all.withLock { $0 += buffer.readableBytesView } }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    /// A token that is valid for an hour.
    func token(of user: String, writes: Bool = false) -> String {
        token(of: user, scopes: writes ? [.catalogWrite] : [])
    }

    /// A token with scopes that is valid for an hour.
    ///
    /// - Parameters:
    ///   - stores: the stores to which it is limited; nil for all stores.
    ///   - seconds: how long it is valid; negative for an expired token.
    ///   - secret: the secret that signs it; nil for the server's.
    func token(
        of user: String,
        scopes: Set<Scope>,
        stores: Set<CatalogKey>? = nil,
        expiresIn seconds: Int64 = 3600,
        secret: [UInt8]? = nil
    ) -> String {
        let expiry = Timestamp(microseconds: Timestamp.now().microseconds + seconds * 1_000_000)
        let caller = Caller(user: UserID(user)!, scopes: scopes, stores: stores, expiresAt: expiry)
        return TokenSigner(secret: secret ?? Self.secret).token(for: caller)
    }

    /// - Parameters:
    ///   - user: nil for a request without a token.
    ///   - writes: whether the token has the scope `catalog:write`.
    ///   - address: the address that the request comes from.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as user: String? = "ann",
        writes: Bool = true,
        _ headers: [String: String] = [:],
        from address: String? = nil
    ) async throws -> Response {
        var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        if let user {
            head.headerFields[.authorization] = "Bearer \(token(of: user, writes: writes))"
        }
        if let body {
            head.headerFields[.contentType] = "application/json"
            head.headerFields[.contentLength] = String(body.utf8.count)
        }
        for (name, value) in headers { head.headerFields[.init(name)!] = value }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body ?? "")))
        let response = await api.respond(
            to: request,
            from: address.flatMap { try? SocketAddress(ipAddress: $0, port: 0) }
        )
        expectDescription(of: response.status, method, path)
        let bytes = Collector.Bytes()
        try await response.body.write(Collector(bytes: bytes))
        return Response(status: response.status.code, headers: response.headers, body: bytes.all.withLock { $0 })
    }

    /// Checks that the description of an operation has the status of its success.
    private func expectDescription(of status: HTTPResponse.Status, _ method: HTTPRequest.Method, _ path: String) {
        let segments = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        guard status.kind == .successful,
            let operation = api.table.match(segments)?.resource.endpoint(method)?.operation
        else { return }
        #expect(operation.responses[status.code] != nil, "\(method) \(path) returns \(status)")
    }

    /// Creates a store `s` with the shelf `dairy` and three products on it.
    static func withShelf() async throws -> MemoryAPI {
        let api = await MemoryAPI()
        _ = try await api.send(.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/dairy", #"{"title":"Dairy"}"#)
        let products = [
            "milk":
                #"{"name":"Milk","brand":"Ärla","price_minor":129,"size":{"amount":"1","unit":"l"},"tags":["cold"]}"#,
            "curd": #"{"name":"Curd","price_minor":99,"size":{"amount":"500","unit":"g"},"in_stock":false}"#,
            "brie": #"{"name":"Brie","brand":"Paysan","price_minor":399,"regular_price_minor":499}"#,
        ]
        for (sku, body) in products.sorted(by: { $0.key < $1.key }) {
            _ = try await api.send(.put, "/v1/stores/s/products/\(sku)", body)
            _ = try await api.send(.put, "/v1/stores/s/shelves/dairy/products/\(sku)")
        }
        return api
    }
}
