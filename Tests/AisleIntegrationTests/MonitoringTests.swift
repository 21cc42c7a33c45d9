import JSON
import Catalog
import CatalogJSON
import Foundation
import LibPQ
import Testing
import TestSupport
import WebClient

/// A server's admin port and its log, as an operator uses them.
@Suite(.timeLimit(.minutes(5))) struct MonitoringTests {
    /// A running server with an admin port.
    private struct Monitored {
        let process: TestProcess
        let port: Int
        let adminPort: Int
        let variables: [String: String]

        func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

        func admin(_ path: String, accept: String? = nil) async throws -> HTTPFetchResponse {
            let headers = accept.map { [(name: "Accept", value: $0)] } ?? []
            return try await HTTPClient.shared.send(
                HTTPFetch("GET", "http://127.0.0.1:\(adminPort)\(path)", headers: headers)
            )
        }

        func metrics() async throws -> String { String(decoding: try await admin("/metrics").body, as: UTF8.self) }

        /// The lines of the log so far that are complete.
        var log: [JSONValue] {
            get throws {
                let text = process.standardError
                let complete = text[..<(text.lastIndex(of: "\n") ?? text.startIndex)]
                return try complete.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
            }
        }
    }

    private static let secret = String(repeating: "s", count: 40)

    private func withServer(
        _ settings: [String: String] = [:],
        _ body: (Monitored) async throws -> Void
    ) async throws {
        let database = try await TestServers.seeded.value.copy()
        var variables = settings
        variables["DATABASE_URL"] = database.configuration.dsn
        variables["AISLE_ADMIN_PORT"] = "0"
        variables["AISLE_JWT_SECRET"] = Self.secret
        let process = try TestProcess(["serve", "--port", "0"], environment: variables)
        let server = Monitored(
            process: process,
            port: try #require(await process.port()),
            adminPort: try #require(await process.adminPort()),
            variables: variables
        )
        try await body(server)
        process.signal(SIGTERM)
        #expect(await process.wait() == 0)
        try await database.drop()
    }

    private static let page = "/v1/stores/corner/shelves/dairy/products?sort=price"

    @Test("Requests, pages, lanes and the process appear in the metrics, in both formats")
    func metrics() async throws {
        try await withServer { server in
            for _ in 0..<3 { _ = try await HTTPClient.shared.send(HTTPFetch("GET", server.url(Self.page))) }
            _ = try await HTTPClient.shared.send(HTTPFetch("GET", server.url("/nowhere")))
            let response = try await server.admin("/metrics")
            let text = String(decoding: response.body, as: UTF8.self)
            let type = response.head.headers.first { $0.name.lowercased() == "content-type" }?.value
            #expect(type == "text/plain; version=0.0.4; charset=utf-8")
            let endpoint = "/v1/stores/{store}/shelves/{shelf}/products"
            #expect(text.contains(#"aisle_http_requests_total{endpoint="\#(endpoint)",method="GET",status="200"} 3"#))
            #expect(text.contains(#"aisle_http_requests_total{endpoint="unknown",method="GET",status="404"} 1"#))
            #expect(text.contains(#"aisle_database_ready{for="writes"} 1"#))
            #expect(text.contains(#"aisle_lane_connections{lane="writes",state="limit"} "#))
            #expect(text.contains("process_resident_memory_bytes "))
            #expect(text.contains("aisle_resort_last_success_timestamp_seconds 0\n"))
            let open = try await server.admin("/metrics", accept: "application/openmetrics-text; version=1.0.0")
            #expect(String(decoding: open.body, as: UTF8.self).hasSuffix("# EOF\n"))
        }
    }

    @Test("The main port has no metrics, and the admin port nothing else")
    func separatePorts() async throws {
        try await withServer { server in
            let main = try await HTTPClient.shared.send(HTTPFetch("GET", server.url("/metrics")))
            #expect(main.status == 404)
            #expect(try await server.admin(Self.page).status == 404)
            #expect(try await server.admin("/livez").status == 200)
            #expect(try await server.admin("/readyz").status == 200)
            #expect(try await server.admin("/readyz?for=reads").status == 200)
            #expect(try await server.admin("/readyz?for=lunch").status == 400)
            let post = try await HTTPClient.shared.send(
                HTTPFetch("POST", "http://127.0.0.1:\(server.adminPort)/metrics", body: [])
            )
            #expect(post.status == 405)
        }
    }

    @Test("A re-sort of another process appears in the metrics and in the status")
    func resort() async throws {
        try await withServer { server in
            #expect(try await TestProcess(["resort", "--all"], environment: server.variables).wait() == 0)
            let metrics = try await server.metrics()
            let line = try #require(
                metrics.split(separator: "\n").first { $0.hasPrefix("aisle_resort_last_success_timestamp_seconds ") }
            )
            let time = try #require(Double(line.split(separator: " ")[1]))
            #expect(abs(time - Date().timeIntervalSince1970) < 300)
            let url = "http://127.0.0.1:\(server.adminPort)"
            let status = try TestProcess(["status", "--url", url])
            #expect(await status.wait() == 0)
            #expect(status.standardOutput.contains("ready, up"))
            #expect(status.standardOutput.contains("last re-sort: 20"))
            let found = try TestProcess(["status"], environment: ["AISLE_ADMIN_PORT": "\(server.adminPort)"])
            #expect(await found.wait() == 0)
            #expect(found.standardOutput.contains("ready, up"))
            let json = try TestProcess(["status", "--url", url, "--format", "json"])
            #expect(await json.wait() == 0)
            #expect(try JSONReader.parse(Array(json.standardOutput.utf8))["ready"]?["writes"] == .bool(true))
        }
    }

    @Test("Without a server, the status command says how to start one")
    func noServer() async throws {
        for (environment, address) in [
            (["AISLE_ADMIN_PORT": "1"], "http://127.0.0.1:1 "),
            (["AISLE_ADMIN_PORT": "1", "AISLE_ADMIN_HOST": "127.0.0.2"], "http://127.0.0.2:1 "),
            (["AISLE_ADMIN_PORT": "1", "AISLE_ADMIN_HOST": "0.0.0.0"], "http://127.0.0.1:1 "),
            (["AISLE_ADMIN_PORT": "1", "AISLE_ADMIN_HOST": "::1"], "http://[::1]:1 "),
        ] {
            let status = try TestProcess(["status"], environment: environment)
            #expect(await status.wait() == 69)
            #expect(status.standardError.contains("no server answers at \(address)"), "\(status.standardError)")
        }
        let any = try TestProcess(["status"], environment: ["AISLE_ADMIN_PORT": "0"])
        #expect(await any.wait() == 64)
        #expect(any.standardError.contains("--url"))
        let status = try TestProcess(["status", "--url", "http://127.0.0.1:1"])
        #expect(await status.wait() == 69)
        #expect(status.standardError.contains("no server answers at http://127.0.0.1:1"))
    }

    @Test("The log has one JSON object per request, with id, endpoint, status, duration, client and bytes")
    func accessLog() async throws {
        try await withServer(["AISLE_ACCESS_LOG": "true"]) { server in
            let headers = [(name: "X-Request-Id", value: "test-1")]
            let response = try await HTTPClient.shared.send(HTTPFetch("GET", server.url(Self.page), headers: headers))
            #expect(await server.process.waitForOutput("test-1"))
            let line = try #require(try server.log.first { $0["request_id"] == .string("test-1") })
            #expect(line["message"] == .string("request"))
            #expect(line["method"] == .string("GET"))
            #expect(line["endpoint"] == .string("/v1/stores/{store}/shelves/{shelf}/products"))
            #expect(line["path"] == .string("/v1/stores/corner/shelves/dairy/products"))
            #expect(line["status"] == .number("200"))
            #expect(line["client"] == .string("127.0.0.1"))
            #expect(line["bytes"] == .number("\(response.body.count)"))
            guard case .number(let duration)? = line["duration_ms"] else { return #expect(Bool(false), "no duration") }
            #expect(Double(duration).map { $0 > 0 } == true)
        }
    }

    @Test("Slow requests are logged as warnings, also without an access log")
    func slowRequests() async throws {
        try await withServer(["AISLE_SLOW_REQUEST_MS": "1"]) { server in
            let headers = [(name: "X-Request-Id", value: "slow-1")]
            let order = server.url("/v1/stores/corner/shelves/dairy/products?facets=brand&sort=price,name")
            _ = try await HTTPClient.shared.send(HTTPFetch("GET", order, headers: headers))
            #expect(await server.process.waitForOutput("slow-1"))
            let line = try #require(try server.log.first { $0["request_id"] == .string("slow-1") })
            #expect(line["message"] == .string("slow request"))
            #expect(line["level"] == .string("warning"))
        }
    }

    @Test("A whole run with users, tokens and lists leaves no secret and no personal data in the log and the metrics")
    func noSecrets() async throws {
        try await withServer(["AISLE_ACCESS_LOG": "true", "AISLE_LOG_LEVEL": "trace", "AISLE_SLOW_REQUEST_MS": "1"]) {
            server in
            let user = "maria.personal@example.com"
            let signed = try TestProcess(
                ["token", "--user", user, "--scope", "catalog:write"],
                environment: server.variables
            )
            #expect(await signed.wait() == 0)
            let token = signed.standardOutput.split(separator: "\n").joined()
            var secrets = [Self.secret, token, user, "Secret shopping list", "customer-4711", "key-9981"]
            func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> JSONValue {
                let response = try await HTTPClient.shared.send(
                    HTTPFetch(
                        method,
                        server.url(path),
                        headers: [
                            ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"),
                            ("Idempotency-Key", "key-9981"),
                        ],
                        body: body.map { Array($0.utf8) }
                    )
                )
                return response.body.isEmpty ? .null : try JSONReader.parse(response.body)
            }
            _ = try await send("PUT", "/v1/me/settings/theme.color", #"{"value":"Secret shopping list"}"#)
            let list = try await send("POST", "/v1/me/lists", #"{"name":"Secret shopping list"}"#)
            guard case .string(let id)? = list["id"] else { return #expect(Bool(false), "no list: \(list.text)") }
            let share = try await send("POST", "/v1/me/lists/\(id)/shares", #"{"role":"editor"}"#)
            if case .string(let shared)? = share["token"] {
                secrets.append(shared)
                _ = try await send("POST", "/v1/me/lists/join", #"{"token":"\#(shared)"}"#)
            }
            _ = try await send(
                "POST",
                "/v1/stores/corner/purchases",
                #"[{"id":"1","sku":"C1001","quantity":1,"customer":"customer-4711"}]"#
            )
            _ = try await send("GET", "/v1/stores/corner/shelves/dairy/products?q=\(token)")
            _ = try await send("POST", "/v1/me/tickets")
            _ = try await send("DELETE", "/v1/me")
            let text = server.process.standardError + (try await server.metrics())
            for secret in secrets { #expect(!text.contains(secret), "\(secret)") }
        }
    }
}
