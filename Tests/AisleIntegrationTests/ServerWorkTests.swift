import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import Foundation
import JSON
import LibPQ
import Live
import Logging
import Ordering
import Synchronization
import Telemetry
import Platform
import Testing
import TestSupport
import WebClient

@testable import aisle

/// The background work of a server, and what it exports about itself.
@Suite(.timeLimit(.minutes(15))) struct ServerWorkTests {
    private static let shelf = ShelfAddress(CatalogKey("shop")!, CatalogKey("dairy")!)

    /// Runs a body with the catalog of a server, which has a shelf of three products.
    private static func withCatalog(_ body: (CommandDatabase, PostgresCatalog) async throws -> Void) async throws {
        try await CommandDatabase.run { commands in
            try await CatalogCommandTests.fill(commands)
            let catalog = PostgresCatalog(
                try Database(commands.database.configuration, waitLimit: .seconds(60)),
                encodingEvents: \.json
            )
            defer { catalog.shutDown() }
            try await body(commands, catalog)
        }
    }

    private static func read(_ catalog: PostgresCatalog) async throws {
        _ = try await catalog.pages.page(
            PageRequest(store: shelf.store, shelf: shelf.shelf, sort: Sort(.name, .ascending)!)
        )
    }

    private final class Observed: Sendable {
        private let folds = Mutex(0)
        var folded: Int { folds.withLock { $0 } }

        func add(_ observation: HousekeepingObservation) {
            if case .purchasesFolded(let count, _) = observation { folds.withLock { $0 += count } }
        }
    }

    @Test("Housekeeping compacts keys, counts purchases, stores images, deletes old rows and creates partitions")
    func housekeeping() async throws {
        try await Self.withCatalog { commands, catalog in
            try await Self.read(catalog)
            let events = try commands.file(
                "p.csv",
                "store,event_id,sku,quantity,at\nshop,00000000-0000-4000-8000-000000000001,m1,1,\(Date.now.ISO8601Format())\n"
            )
            #expect(await commands.aisle(["purchases", "import", events]).code == 0)
            #expect(await commands.aisle(["prices", "set", "m1=9"]).code == 0)
            let ann = UserID("ann")!
            let call = IdempotentCall<ListDocument>(key: "k", fingerprint: [1])
            _ = try await catalog.lists.createList(NewList(name: "a"), of: ann, once: call)
            let order = await commands.aisle(["export", "order", "dairy"]).output
            // A long key after those of the other products.
            let tail = PathKey([Int64](repeating: 7, count: 80)).bytes.map { byte in
                let digits = String(byte, radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
            try await commands.sql(
                """
                UPDATE placement_position SET key = key || decode('\(tail)', 'hex')
                    WHERE key = (SELECT key FROM placement_position ORDER BY key DESC LIMIT 1);
                UPDATE shelf_change SET version = version - 40 * 86400000000;
                UPDATE user_idempotency_record SET created_at = now() - interval '25 hours';
                UPDATE user_event SET created_at = now() - interval '31 days';
                INSERT INTO user_ticket (user_id, digest, expires_at, token_expires_at)
                    VALUES ('ann', decode(repeat('01', 32), 'hex'), now() - interval '1 day', now());
                INSERT INTO shelf_image (store_id, shelf_id, version, format, used_at, image)
                    SELECT store_id, 1000000, 1, 1, now() - interval '31 days', '' FROM store;
                DO $$ BEGIN
                    EXECUTE (SELECT 'DROP TABLE ' || max(inhrelid::regclass::text) FROM pg_inherits
                        WHERE inhparent = 'store_audit'::regclass AND inhrelid::regclass::text ~ '[0-9]$');
                END $$;
                """
            )
            let pending: [(String, PostgresStatement)] = [
                ("long keys", "SELECT count(*) FROM placement_position WHERE octet_length(key) > 64"),
                ("responses", "SELECT count(*) FROM user_idempotency_record"),
                ("events", "SELECT count(*) FROM user_event"), ("tickets", "SELECT count(*) FROM user_ticket"),
                (
                    "changes of shelves",
                    "SELECT count(*) FROM shelf_change WHERE version < (extract(epoch FROM now()) * 1000000)::bigint - 86400000000"
                ),
                ("unused images", "SELECT count(*) FROM shelf_image WHERE shelf_id = 1000000"),
                ("images", "SELECT 1 - least(1, count(*)) FROM shelf_image WHERE shelf_id < 1000000"),
                // Of other months, of this month, and of the next one, which was dropped.
                (
                    "partitions",
                    "SELECT 1 - least(1, count(*) / 3) FROM pg_inherits WHERE inhparent = 'store_audit'::regclass"
                ),
            ]
            let observed = Observed()
            let housekeeping = Housekeeping(
                catalog: catalog,
                observer: Observer { observed.add($0) },
                auditRetention: .standard,
                intervals: .init(runs: .milliseconds(50), trims: .zero, images: .milliseconds(20))
            )
            let connection = try await PostgresConnection.connect(commands.database.configuration)
            func left() async throws -> [String] {
                var left: [String] = observed.folded == 1 ? [] : ["purchases"]
                for (name, statement) in pending {
                    let count = try await connection.perform {
                        try $0.query(statement) { try $0.first { try $0.int(0) } }
                    }
                    if count != 0 { left.append(name) }
                }
                return left
            }
            #expect(try await left() == ["purchases"] + pending.map { $0.0 })
            let work = Task { try await housekeeping.run() }
            _ = try await eventually { try await left().isEmpty }
            #expect(try await left() == [])
            work.cancel()
            try await work.value
            await connection.close()
            #expect(await commands.aisle(["export", "order", "dairy"]).output == order)
        }
    }

    @Test("Old changes and images are kept until the longer interval has passed")
    func trims() async throws {
        try await Self.withCatalog { commands, catalog in
            #expect(await commands.aisle(["prices", "set", "m1=9"]).code == 0)
            try await commands.sql(
                """
                UPDATE shelf_change SET version = version - 40 * 86400000000;
                INSERT INTO shelf_image (store_id, shelf_id, version, format, used_at, image)
                    SELECT store_id, 1000000, 1, 1, now() - interval '31 days', '' FROM store;
                INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1, 0);
                INSERT INTO user_ticket (user_id, digest, expires_at, token_expires_at)
                    VALUES ('ann', decode(repeat('01', 32), 'hex'), now() - interval '1 day', now());
                """
            )
            let changes = try await commands.value("SELECT count(*)::text FROM shelf_change")
            #expect(changes != "0")
            let housekeeping = Housekeeping(
                catalog: catalog,
                observer: .none,
                auditRetention: .standard,
                intervals: .init(runs: .milliseconds(50), trims: .seconds(600), images: .seconds(600))
            )
            let work = Task { try await housekeeping.run() }
            // Later in the run than the deletions would be.
            let hasRun = try await eventually {
                try await commands.value("SELECT count(*)::text FROM user_ticket") == "0"
            }
            #expect(hasRun)
            work.cancel()
            try await work.value
            #expect(try await commands.value("SELECT count(*)::text FROM shelf_change") == changes)
            #expect(try await commands.value("SELECT count(*)::text FROM shelf_image") == "1")
            #expect(Housekeeping.Intervals().runs == .seconds(60))
            #expect(Housekeeping.Intervals().trims == .seconds(600))
            #expect(Housekeeping.Intervals().images == .seconds(1))
        }
    }

    private static func monitor(
        _ catalog: PostgresCatalog,
        _ live: LiveHub,
        _ drainState: DrainState = DrainState()
    ) throws -> ServerMonitor {
        let registry = MetricRegistry(ServerMetrics.all)
        return ServerMonitor(
            startedAt: Timestamp(microseconds: 5_500_000),
            catalog: catalog,
            products: ProductFragments(limit: 1 << 20),
            live: live,
            drainState: drainState,
            connections: ConnectionCount(),
            log: try ServerLog(.json, level: .critical),
            spans: nil,
            observations: ObservationMetrics(registry),
            registry: registry
        )
    }

    /// Returns the values of metrics, by name and labels.
    private static func values(_ monitor: ServerMonitor) async -> [String: Double] {
        var values: [String: Double] = [:]
        for line in await monitor.metrics(.prometheus).split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            values[String(line[..<space])] = Double(line[space...].dropFirst())
        }
        return values
    }

    @Test("The metrics of a server have the state of its lanes, shelves, streams and re-sorts")
    func monitor() async throws {
        try await Self.withCatalog { commands, catalog in
            #expect(await commands.aisle(["resort", "--all"]).code == 0)
            for _ in 0..<3 { try await Self.read(catalog) }
            let live = LiveHub(pages: catalog.pages, versions: catalog.versions, source: nil)
            let subscription = try await live.subscribe(UserID("ann")!, from: .now)
            let monitor = try Self.monitor(catalog, live)
            var values = await Self.values(monitor)
            #expect(values["process_start_time_seconds"] == 5.5)
            #expect(values.first { $0.key.hasPrefix("aisle_build_info{") }?.value == 1)
            #expect(values["aisle_http_connections"] == 0)
            for purpose in ["reads", "writes"] { #expect(values[#"aisle_database_ready{for="\#(purpose)"}"#] == 1) }
            for lane in catalog.database.laneUses {
                func value(_ state: String) -> Double? {
                    values[#"aisle_lane_connections{lane="\#(lane.lane)",state="\#(state)"}"#]
                }
                #expect(value("limit") == Double(lane.limit))
                #expect((value("open") ?? -1) <= Double(lane.limit))
                #expect((value("in_use") != nil) == (lane.lane != "pages"))
                #expect(values[#"aisle_lane_waiting{lane="\#(lane.lane)"}"#] != nil)
            }
            let memory = catalog.shelfMemoryUse
            #expect(values["aisle_shelves_in_memory"] == 1)
            #expect(values[#"aisle_shelf_memory_bytes{kind="shelves"}"#] == Double(memory.shelves.size))
            #expect(values["aisle_shelf_memory_limit_bytes"] == Double(memory.limit))
            #expect(values[#"aisle_shelf_evictions_total{kind="views"}"#] == 0)
            #expect(memory.hits > 0 && values["aisle_shelf_hits_total"] == Double(memory.hits))
            #expect(values[#"aisle_streams{kind="user"}"#] == 1 && values[#"aisle_streams{kind="shelf"}"#] == 0)
            #expect(values[#"aisle_feeds{kind="user"}"#] == 1 && values[#"aisle_feeds{kind="shelf"}"#] == 0)
            for name in [
                "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds",
                "process_cpu_seconds_total",
            ] { #expect((values[name] ?? 0) > 0, "\(name)") }
            #expect(values["aisle_log_lines_dropped_total"] == 0)
            let end = try #require(
                try await commands.value("SELECT extract(epoch FROM ended_at)::text FROM resort_run").flatMap {
                    Double($0)
                }
            )
            let start = try #require(
                try await commands.value("SELECT extract(epoch FROM started_at)::text FROM resort_run").flatMap {
                    Double($0)
                }
            )
            #expect(abs((values["aisle_resort_last_success_timestamp_seconds"] ?? 0) - end) < 0.001)
            #expect(abs((values["aisle_resort_last_duration_seconds"] ?? -1) - (end - start)) < 0.001)
            let shelves = try #require(
                try await commands.value("SELECT shelves::text FROM resort_run").flatMap { Double($0) }
            )
            #expect(values[#"aisle_resort_last_changes{kind="shelves"}"#] == shelves)
            #expect(values["aisle_resort_running"] == 0 && values["aisle_resort_failed"] == 0)

            // A counter has the value that was measured, not the sum of all exports.
            try await Self.read(catalog)
            values = await Self.values(monitor)
            #expect(catalog.shelfMemoryUse.hits > memory.hits)
            #expect(values["aisle_shelf_hits_total"] == Double(catalog.shelfMemoryUse.hits))
            #expect((values["process_cpu_seconds_total"] ?? 0) < 100_000)

            // A server that starts now sees that the last run failed.
            try await commands.sql("UPDATE resort_run SET failure = 'x'")
            let failed = await Self.values(try Self.monitor(catalog, live))
            #expect(failed["aisle_resort_failed"] == 1)
            #expect(failed["aisle_resort_last_success_timestamp_seconds"] == 0)
            #expect(failed["aisle_resort_last_duration_seconds"] == 0)
            #expect(failed[#"aisle_resort_last_changes{kind="shelves"}"#] == 0)
            withExtendedLifetime(subscription) {}

            let draining = DrainState()
            let last = try Self.monitor(catalog, live, draining)
            for purpose in Readiness.Purpose.allCases { #expect(await last.isReady(for: purpose)) }
            draining.begin()
            for purpose in Readiness.Purpose.allCases { #expect(await !last.isReady(for: purpose)) }
            #expect(await last.state().isDraining)
            #expect(await Self.values(last)[#"aisle_database_ready{for="writes"}"#] == 1)
        }
    }

    @Test("The admin port explains itself, forbids caches, and is not ready while the server drains")
    func adminPort() async throws {
        try await CommandDatabase.run { commands in
            let server = try TestProcess(
                ["serve", "--port", "0"],
                environment: [
                    "DATABASE_URL": commands.database.configuration.dsn, "AISLE_ADMIN_PORT": "0",
                    "AISLE_DRAIN_SECONDS": "600", "AISLE_JWT_SECRET": String(repeating: "s", count: 32),
                ]
            )
            let (port, adminPort) = (try #require(await server.port()), try #require(await server.adminPort()))
            let admin = "http://127.0.0.1:\(adminPort)"
            func send(_ method: String, _ path: String) async throws -> (
                status: Int, text: String, headers: [String: String]
            ) {
                let response = try await HTTPClient.shared.send(
                    HTTPFetch(method, admin + path, body: method == "POST" ? [] : nil)
                )
                let headers = Dictionary(response.head.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
                return (response.status, String(decoding: response.body, as: UTF8.self), headers)
            }
            for (method, path, status, text) in [
                ("GET", "/livez", 200, "ok\n"), ("GET", "/readyz", 200, "ok\n"),
                ("GET", "/readyz?for=writes", 200, "ok\n"),
                ("GET", "/readyz?for=lunch", 400, "for must be reads or writes\n"),
                ("GET", "/v1/stores", 404, "unknown path; this port has /metrics, /status, /livez, /readyz\n"),
                ("POST", "/status", 405, "/status supports GET and HEAD only\n"),
            ] {
                let response = try await send(method, path)
                #expect(response.status == status && response.text == text, "\(response)")
                #expect(response.headers["cache-control"] == "no-store")
                #expect(response.headers["content-type"] == "text/plain; charset=utf-8")
                #expect(response.headers["allow"] == (status == 405 ? "GET, HEAD" : nil))
            }
            let state = try await send("GET", "/status")
            #expect(state.headers["content-type"] == "application/json" && state.headers["cache-control"] == "no-store")
            #expect(try JSONReader.parse(Array(state.text.utf8))["draining"] == .bool(false))
            // The slash at the end of an address is ignored.
            let ready = await CommandRun.run(["status", "--url", admin + "/"])
            #expect(ready.code == 0 && ready.output.contains(", ready, up "), "\(ready)")
            let json = await CommandRun.run(["status", "--url", admin, "--format", "json"])
            #expect(try JSONReader.parse(Array(json.output.utf8))["version"] == .string(Aisle.version))
            let other = await CommandRun.run(["status", "--url", "http://127.0.0.1:\(port)"])
            #expect(other.code == 69 && other.output == "")
            #expect(
                other.notes == "aisle: http://127.0.0.1:\(port) is not the admin port of an aisle server (status 404)\n"
            )
            // A request has at most 100 headers, of at most 16 KiB.
            for (count, size, status) in [(1, 15_000, 200), (1, 17_000, 400), (90, 10, 200), (101, 10, 400)] {
                let headers = (0..<count).map { (name: "X-Test-\($0)", value: String(repeating: "a", count: size)) }
                let url = "http://127.0.0.1:\(port)/v1/stores"
                let response = try await HTTPClient.shared.send(HTTPFetch("GET", url, headers: headers))
                #expect(response.status == status, "\(count) of \(size)")
            }
            // Two servers cannot have one admin port, and `aisle dev` takes the next free port.
            let variables = [
                "DATABASE_URL": commands.database.configuration.dsn,
                "AISLE_JWT_SECRET": String(repeating: "s", count: 32),
            ]
            let second = try TestProcess(
                ["serve", "--port", "0"],
                environment: variables.merging(["AISLE_ADMIN_PORT": "\(adminPort)"]) { $1 }
            )
            #expect(await second.wait() == 69)
            let message =
                "cannot listen on 127.0.0.1:\(adminPort): the port is in use; choose another with AISLE_ADMIN_PORT"
            #expect(second.standardError.contains(message), "\(second.standardError)")
            let dev = try TestProcess(["dev"], environment: variables.merging(["AISLE_PORT": "\(port)"]) { $1 })
            #expect(await dev.waitForOutput("Try: curl"), "\(dev.standardError)")
            #expect(dev.standardError.contains("port \(port) is in use; serving on "), "\(dev.standardError)")
            #expect(dev.standardError.contains("seeded: "))
            dev.signal(SIGTERM)
            #expect(await dev.wait() == 0)

            server.signal(SIGTERM)
            let isDraining = try await eventually { try await send("GET", "/readyz").status != 200 }
            #expect(isDraining)
            let readiness = try await send("GET", "/readyz")
            #expect(readiness.status == 503 && readiness.text == "not ready\n")
            #expect(try await send("GET", "/livez").status == 200)
            let draining = await CommandRun.run(["status", "--url", admin])
            #expect(draining.code == 1 && draining.output.contains(", draining, up "), "\(draining)")
            // New requests are still accepted.
            let page = try await HTTPClient.shared.send(HTTPFetch("GET", "http://127.0.0.1:\(port)/v1/stores"))
            #expect(page.status == 200)
            server.signal(SIGKILL)
            #expect(await server.wait() == 128 + SIGKILL)
        }
    }

    @Test("A server that has drained ends without an error")
    func drained() async throws {
        try await CommandDatabase.run { commands in
            let server = try TestProcess(
                ["serve", "--port", "0"],
                environment: [
                    "DATABASE_URL": commands.database.configuration.dsn, "AISLE_DRAIN_SECONDS": "1",
                    "AISLE_JWT_SECRET": String(repeating: "s", count: 32),
                ]
            )
            _ = try #require(await server.port())
            server.signal(SIGTERM)
            #expect(await server.wait() == 0, "\(server.standardError)")
        }
    }

    @Test("A watch prints an event per line: of a shelf from a version on, and of a user from a revision on")
    func watch() async throws {
        try await CommandDatabase.run { commands in
            try await CatalogCommandTests.fill(commands)
            func output(_ arguments: [String], until text: String) async throws -> String {
                let record = TerminalRecord()
                let watch = Task { await commands.aisle(["watch"] + arguments, on: record) }
                _ = await eventually { record.output.contains(text) }
                watch.cancel()
                let run = await watch.value
                // Cancelled, as Ctrl-C does.
                #expect(run.code == 130 && run.notes == "aisle: interrupted\n", "\(run)")
                return record.output
            }
            #expect(await commands.aisle(["pref", "set", "theme", "dark", "--user", "ann"]).code == 0)
            let user = try await output(["--user", "ann", "--since", "0"], until: "theme")
            let line = user.split(separator: "\n").first.map(String.init) ?? ""
            let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
            try #require(parts.count == 3, "\(user)")
            #expect((try? JSONReader.parse(Array(parts[2].utf8))) != nil)
            #expect(user.hasSuffix("}\n"))
            let shelf = try await output(
                ["--shelf", "dairy", "--by", "price", "--limit", "2", "--since", "1"],
                until: "\n"
            )
            #expect(shelf.split(separator: " ").count >= 3, "\(shelf)")
        }
    }
}
