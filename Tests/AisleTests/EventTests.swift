import AsyncHTTPClient
import Catalog
import CatalogHTTP
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import TestSupport
import Testing

/// Two servers on one database, devices on real sockets.
@Suite(.serialized) struct EventTests {
    private static let secret = String(repeating: "k", count: 40)

    private struct Servers {
        let database: TestDatabase
        let processes: [TestProcess]
        let ports: [Int]

        func url(_ server: Int, _ path: String) -> String { "http://127.0.0.1:\(ports[server])/v1" + path }
    }

    private func withServers(
        _ environment: [String: String] = [:],
        _ body: (Servers) async throws -> Void
    ) async throws {
        let database = try await TestDatabase.migrated()
        var variables = environment
        variables["DATABASE_URL"] = database.configuration.dsn
        variables["AISLE_JWT_SECRET"] = Self.secret
        #expect(try TestProcess(["seed"], environment: variables).wait() == 0)
        let processes = try (0..<2).map { _ in try TestProcess(["serve", "--port", "0"], environment: variables) }
        var ports: [Int] = []
        for process in processes { ports.append(try #require(await process.port())) }
        try await body(Servers(database: database, processes: processes, ports: ports))
        for process in processes {
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }
        try await database.drop()
    }

    private func token(_ user: String, _ scopes: Set<Scope> = []) async throws -> String {
        try await TokenSigner(secret: Array(Self.secret.utf8)).token(
            for: Caller(
                user: UserID(user)!,
                scopes: scopes,
                expiresAt: Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
            )
        )
    }

    @discardableResult
    private func send(
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

    @Test(arguments: ["true", "false"])
    func aChangeReachesTheUsersOtherDevicesAndNobodyElses(listens: String) async throws {
        try await withServers(["AISLE_LISTEN": listens]) { servers in
            let (ann, bob) = (try await token("ann"), try await token("bob"))
            let phone = EventReader(servers.url(0, "/me/events"), token: ann)
            let watch = EventReader(servers.url(1, "/me/events"), token: ann)
            let other = EventReader(servers.url(1, "/me/events"), token: bob)
            for reader in [phone, watch, other] { #expect(await reader.reaches { !$0.lastID.isEmpty }) }
            let key = "stores/corner/shelves/dairy/sort"
            let path = "/me/" + key
            let put = try await send(.PUT, servers.url(0, path), #"{"sort":"-unit_price"}"#, as: ann)
            #expect(put.status == 200)
            for reader in [phone, watch] {
                #expect(await reader.reaches { $0.events.count == 1 })
                let event = try #require(reader.events.first)
                #expect(event.name == "setting" && event.id == put.json["revision"]?.text)
                let value = try JSONReader.parse(Array(event.data.utf8))
                #expect(value["key"] == .string(key) && value["value"] == .string("-unit_price"))
            }
            // What comes on the other's stream is the first that happened for them.
            try await send(.PUT, servers.url(0, "/me/settings/mine"), #"{"value":1}"#, as: bob)
            #expect(await other.reaches { !$0.events.isEmpty })
            #expect(other.events.count == 1 && other.events[0].data.contains("mine"))
            // Deletions are told, and a device that was away is told of all of it, from where it was.
            let seen = watch.lastID
            watch.stop()
            try await send(.PUT, servers.url(1, "/me/settings/a"), #"{"value":{"x":[1,2]}}"#, as: ann)
            try await send(.DELETE, servers.url(1, path), as: ann)
            let back = EventReader(servers.url(1, "/me/events"), token: ann, lastEventID: seen)
            #expect(await back.reaches { $0.events.count == 2 })
            #expect(back.events.map { $0.data.contains(#""deleted":true"#) } == [false, true])
            #expect(await phone.reaches { $0.events.count == 3 })
            #expect(phone.events.suffix(2).map(\.data) == back.events.map(\.data))
            // Erased on one, a gap on all.
            try await send(.DELETE, servers.url(0, "/me"), as: ann)
            for reader in [phone, back] { #expect(await reader.reaches { $0.events.last?.name == "gap" }) }
        }
    }

    @Test func aShelfIsFollowedByDiffsThatLeadToItsOrder() async throws {
        try await withServers { servers in
            let writer = try await token("m", [.catalogWrite])
            let path = "/stores/corner/shelves/dairy"
            let readers = (0..<2).map { EventReader(servers.url($0, path + "/events?sort=position&limit=5")) }
            for reader in readers { #expect(await reader.reaches { $0.events.count == 1 }) }
            func order() async throws -> [String] {
                let answer = try await send(.GET, servers.url(0, path + "/order?sort=position"), as: writer).json
                guard case .array(let ids)? = answer["ids"] else { return [] }
                return ids.prefix(5).map { if case .string(let id) = $0 { id } else { "" } }
            }
            var ids = try await order()
            for round in 0..<12 {
                let id = ids[(round * 7 + 3) % 5]
                let target = round % 3 == 0 ? #""place":"last""# : #""position":\#(round % 4)"#
                let body = #"{"moves":[{"ids":["\#(id)"],\#(target)}]}"#
                #expect(
                    try await send(.POST, servers.url(round % 2, path + "/order/moves"), body, as: writer).status == 200
                )
                ids = try await order()
            }
            // A price is a change of content, not of place.
            let patch = #"{"price_minor":12345}"#
            try await send(.PATCH, servers.url(0, "/stores/corner/products/\(ids[1])"), patch, as: writer)
            let expected = ids
            for reader in readers {
                #expect(
                    await reader.reaches { reader in reader.events.contains { $0.data.contains(#""changed":[{"#) } }
                )
                #expect(try Self.apply(reader.events) == expected)
            }
            // Resumed at what it has, it is told nothing it has; from what nobody remembers, the order whole.
            let version = try #require(readers[0].events.last?.id)
            let resumed = EventReader(servers.url(0, path + "/events?sort=position&limit=5"), lastEventID: version)
            let lost = EventReader(servers.url(0, path + "/events?sort=position&limit=5"), lastEventID: "1")
            #expect(await lost.reaches { !$0.events.isEmpty })
            #expect(lost.events[0].data.contains(#""mode":"order""#))
            let body = #"{"moves":[{"ids":["\#(ids[4])"],"place":"first"}]}"#
            try await send(.POST, servers.url(1, path + "/order/moves"), body, as: writer)
            #expect(await resumed.reaches { !$0.events.isEmpty })
            #expect(resumed.events[0].data.contains(#""mode":"moves""#))
            #expect(resumed.events[0].data.contains(#""from_version":\#(version)"#))
            // A shelf that goes ends its streams.
            #expect(try await send(.DELETE, servers.url(0, path), as: writer).status == 204)
            for reader in readers {
                #expect(await reader.reaches { $0.hasEnded })
                #expect(reader.events.last?.name == "gone")
            }
            let none = EventReader(servers.url(0, path + "/events"))
            #expect(await none.reaches { $0.hasEnded })
            #expect(none.status == 404, "\(none.events)")
        }
    }

    /// The order that a client has which does what it is told.
    private static func apply(_ events: [EventReader.Event]) throws -> [String] {
        func text(_ value: JSONValue?) -> String { if case .string(let text)? = value { text } else { "" } }
        func number(_ value: JSONValue?) -> Int { if case .number(let text)? = value { Int(text) ?? -1 } else { -1 } }
        func list(_ value: JSONValue?) -> [JSONValue] { if case .array(let items)? = value { items } else { [] } }
        var shown: [String] = []
        for event in events where event.name == "order" {
            let diff = try JSONReader.parse(Array(event.data.utf8))
            if diff["mode"] == .string("order") {
                shown = list(diff["ids"]).map { text($0) }
                continue
            }
            let leaving = Set((list(diff["deletes"]) + list(diff["moves"])).map { number($0["from"]) })
            shown = shown.enumerated().filter { !leaving.contains($0.offset) }.map(\.element)
            let entering = (list(diff["inserts"]) + list(diff["moves"])).sorted { number($0["to"]) < number($1["to"]) }
            for entry in entering { shown.insert(text(entry["id"]), at: number(entry["to"])) }
        }
        return shown
    }

    @Test func nothingIsMissingAfterTheListenersConnectionIsLost() async throws {
        try await withServers { servers in
            let ann = try await token("ann")
            let reader = EventReader(servers.url(0, "/me/events"), token: ann)
            #expect(await reader.reaches { !$0.lastID.isEmpty })
            let admin = try await PostgresConnection.connect(servers.database.configuration)
            for round in 0..<30 {
                if round % 5 == 2 {
                    try await admin.perform {
                        try $0.run(
                            script: """
                                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()
                                """
                        )
                    }
                }
                let put = try await send(
                    .PUT,
                    servers.url(1, "/me/settings/k\(round)"),
                    #"{"value":\#(round)}"#,
                    as: ann
                )
                #expect(put.status == 200)
            }
            await admin.close()
            #expect(await reader.reaches { $0.events.count >= 30 })
            let ids = reader.events.compactMap { Int($0.id) }
            #expect(ids.count == 30 && ids == ids.sorted() && Set(ids).count == 30)
            #expect(reader.events.allSatisfy { $0.name == "setting" })
        }
    }

    @Test func aServerThatStopsSendsItsDevicesToAnother() async throws {
        try await withServers { servers in
            let ann = try await token("ann")
            let reader = EventReader(servers.url(0, "/me/events"), token: ann)
            let shelf = EventReader(servers.url(0, "/stores/corner/shelves/dairy/events"))
            #expect(await reader.reaches { !$0.lastID.isEmpty })
            #expect(await shelf.reaches { !$0.events.isEmpty })
            servers.processes[0].signal(SIGTERM)
            #expect(servers.processes[0].wait() == 0)
            for stream in [reader, shelf] {
                #expect(await stream.reaches { $0.hasEnded })
                #expect(stream.retries.count == 2 && (500...4000).contains(stream.retries[1]))
            }
            try await send(.PUT, servers.url(1, "/me/settings/k"), #"{"value":true}"#, as: ann)
            let moved = EventReader(servers.url(1, "/me/events"), token: ann, lastEventID: reader.lastID)
            #expect(await moved.reaches { $0.events.count == 1 })
        }
    }
}
