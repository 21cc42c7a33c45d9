import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import Foundation
import LibPQ
import Testing
import TestSupport
import WebClient

enum HTTPMethod: String { case GET, PUT, POST, PATCH, DELETE }

/// Two servers on one database with the seed catalog.
struct TestServers {
    let database: TestDatabase
    let processes: [TestProcess]
    let ports: [Int]

    private static let secret = String(repeating: "k", count: 40)

    /// A database with the seed catalog, which is created once per process and copied.
    static let seeded = Task { () async throws -> TestDatabase in
        let database = try await TestDatabase.migrated()
        let seed = try TestProcess(["seed"], environment: ["DATABASE_URL": database.configuration.dsn])
        #expect(await seed.wait() == 0, "\(seed.standardError)")
        return database
    }

    func url(_ server: Int, _ path: String) -> String { "http://127.0.0.1:\(ports[server])/v1" + path }

    static func run(_ environment: [String: String] = [:], _ body: (TestServers) async throws -> Void) async throws {
        let database = try await seeded.value.copy()
        var variables = environment
        variables["DATABASE_URL"] = database.pooled.dsn
        variables["AISLE_DIRECT_DSN"] = database.configuration.dsn
        variables["AISLE_PREPARED_STATEMENTS"] = database.pooled.statements.rawValue
        variables["AISLE_JWT_SECRET"] = secret
        let processes = try (0..<2).map { _ in try TestProcess(["serve", "--port", "0"], environment: variables) }
        var ports: [Int] = []
        for process in processes { ports.append(try #require(await process.port())) }
        try await body(TestServers(database: database, processes: processes, ports: ports))
        for process in processes {
            process.signal(SIGTERM)
            #expect(await process.wait() == 0)
        }
        try await database.drop()
    }

    static func token(_ user: String, _ scopes: Set<Scope> = []) async throws -> String {
        TokenSigner(secret: Array(secret.utf8)).token(
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
        let fetch = HTTPFetch(
            method.rawValue,
            url,
            headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
            body: body.isEmpty ? nil : Array(body.utf8),
            timeout: .seconds(60)
        )
        let response = try await HTTPClient.shared.send(fetch)
        return (response.status, response.body.isEmpty ? .null : try JSONReader.parse(response.body))
    }
}
