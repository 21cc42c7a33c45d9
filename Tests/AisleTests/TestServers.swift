import AsyncHTTPClient
import Catalog
import CatalogHTTP
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import TestSupport
import Testing

/// Two servers on one database, with our own catalog in it.
struct TestServers {
    let database: TestDatabase
    let processes: [TestProcess]
    let ports: [Int]

    private static let secret = String(repeating: "k", count: 40)

    func url(_ server: Int, _ path: String) -> String { "http://127.0.0.1:\(ports[server])/v1" + path }

    static func run(_ environment: [String: String] = [:], _ body: (TestServers) async throws -> Void) async throws {
        let database = try await TestDatabase.migrated()
        var variables = environment
        variables["DATABASE_URL"] = database.configuration.dsn
        variables["AISLE_JWT_SECRET"] = secret
        #expect(try TestProcess(["seed"], environment: variables).wait() == 0)
        let processes = try (0..<2).map { _ in try TestProcess(["serve", "--port", "0"], environment: variables) }
        var ports: [Int] = []
        for process in processes { ports.append(try #require(await process.port())) }
        try await body(TestServers(database: database, processes: processes, ports: ports))
        for process in processes {
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }
        try await database.drop()
    }

    static func token(_ user: String, _ scopes: Set<Scope> = []) async throws -> String {
        try await TokenSigner(secret: Array(secret.utf8)).token(
            for: Caller(
                user: UserID(user)!,
                scopes: scopes,
                expiresAt: Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
            )
        )
    }

    @discardableResult
    static func send(
        _ method: HTTPMethod,
        _ url: String,
        _ body: String = "",
        as token: String
    ) async throws -> (status: Int, json: JSONValue) {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        request.headers.add(name: "Content-Type", value: "application/json")
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = Array(buffer: try await response.body.collect(upTo: 1 << 20))
        return (Int(response.status.code), bytes.isEmpty ? .null : try JSONReader.parse(bytes))
    }
}
