import Catalog
import Live
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport

/// The API on a real socket; by default, its clients may write.
enum TestAPI {
    /// An importer for catalogs without imports.
    struct NoImports: CatalogImporting {
        func importFile<Chunks: AsyncSequence>(
            _ chunks: Chunks,
            _ options: ImportOptions,
            onReject: (ImportRejection) throws -> Void,
            onProgress: (Int) -> Void,
            onPrune: ([ShelfRemoval]) throws -> Bool
        ) async throws(CatalogError) -> ImportSummary where Chunks.Element == [UInt8] { throw .unavailable }
    }

    static let secret = Array("a secret of thirty-two bytes, or more".utf8)

    static func token(
        _ user: String = "merchandiser",
        _ scopes: Set<Scope> = [],
        customer: String? = nil,
        expiresIn seconds: Int64 = 3600
    ) async throws -> String {
        let expiry = Timestamp(microseconds: Timestamp.now().microseconds + seconds * 1_000_000)
        return TokenSigner(secret: secret).token(
            for: Caller(user: UserID(user)!, scopes: scopes, customer: customer, expiresAt: expiry)
        )
    }

    static func api(
        _ catalog: CatalogStorage,
        importer: any CatalogImporting,
        options: CatalogAPI.Options = .init(),
        verifier: TokenVerifier? = nil,
        live: LiveHub? = nil
    ) async -> CatalogAPI {
        CatalogAPI(
            catalog: catalog,
            importer: importer,
            key: DeploymentKey(Array("test".utf8)),
            verifier: verifier ?? TokenVerifier(keys: TokenKeys(secrets: [secret])),
            live: live ?? LiveHub(pages: catalog.pages, versions: catalog.versions, source: nil),
            options: options
        )
    }

    static func run(
        _ api: CatalogAPI,
        _ body: @escaping @Sendable (any TestClient) async throws -> Void
    ) async throws {
        let token = try await token("merchandiser", [.catalogWrite])
        try await serving(api) { try await body(WritingClient(client: $0, token: token)) }
    }

    /// Runs a body with a server on its own database.
    static func withServer(
        _ body: @escaping @Sendable (any TestClient, PostgresCatalog) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await run(await api(catalog.storage, importer: Importer(catalog))) { try await body($0, catalog) }
        }
    }
}

/// Adds a token to writing requests that do not set or omit one explicitly.
private struct WritingClient: TestClient {
    let client: PlainClient
    let token: String

    var port: Int { client.port }

    func send(
        uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields,
        body: ByteBuffer?
    ) async throws -> TestResponse {
        var headers = headers
        if method != .get, method != .options, headers[.authorization] == nil, headers[.init("X-Anonymous")!] == nil {
            headers[.authorization] = "Bearer \(token)"
        }
        return try await client.send(uri: uri, method: method, headers: headers, body: body)
    }
}
