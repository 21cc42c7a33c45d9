import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import Foundation
import LibPQ
import Testing
import TestSupport

/// Event streams of two servers on one database, over real sockets.
@Suite(.timeLimit(.minutes(15))) struct EventTests {
    @Test("A change of a setting reaches the user's other devices, and no other user", arguments: ["true", "false"])
    func settingReachesOwnDevicesOnly(listens: String) async throws {
        try await TestServers.run(["AISLE_LISTEN": listens]) { servers in
            let (ann, bob) = (try await TestServers.token("ann"), try await TestServers.token("bob"))
            let phone = EventReader(servers.url(0, "/me/events"), token: ann)
            let watch = EventReader(servers.url(1, "/me/events"), token: ann)
            let other = EventReader(servers.url(1, "/me/events"), token: bob)
            for reader in [phone, watch, other] { #expect(await reader.waitUntil { !$0.lastID.isEmpty }) }
            let key = "stores/corner/shelves/dairy/sort"
            let path = "/me/" + key
            let put = try await TestServers.send(.PUT, servers.url(0, path), #"{"sort":"-unit_price"}"#, as: ann)
            #expect(put.status == 200)
            for reader in [phone, watch] {
                #expect(await reader.waitUntil { $0.events.count == 1 })
                let event = try #require(reader.events.first)
                #expect(event.name == "setting")
                #expect(event.id == put.json["revision"]?.text)
                let value = try JSONReader.parse(Array(event.data.utf8))
                #expect(value["key"] == .string(key))
                #expect(value["value"] == .string("-unit_price"))
            }
            // The other user's stream starts with their own first change.
            try await TestServers.send(.PUT, servers.url(0, "/me/settings/mine"), #"{"value":1}"#, as: bob)
            #expect(await other.waitUntil { !$0.events.isEmpty })
            try #require(other.events.count == 1)
            #expect(other.events[0].data.contains("mine"))
            // Deletions are announced, and a reconnecting device receives everything since its last event.
            let seen = watch.lastID
            watch.stop()
            try await TestServers.send(.PUT, servers.url(1, "/me/settings/a"), #"{"value":{"x":[1,2]}}"#, as: ann)
            try await TestServers.send(.DELETE, servers.url(1, path), as: ann)
            let resumed = EventReader(servers.url(1, "/me/events"), token: ann, lastEventID: seen)
            #expect(await resumed.waitUntil { $0.events.count == 2 })
            #expect(resumed.events.map { $0.data.contains(#""deleted":true"#) } == [false, true])
            #expect(await phone.waitUntil { $0.events.count == 3 })
            #expect(phone.events.suffix(2).map(\.data) == resumed.events.map(\.data))
            // A device with an invalid id resyncs; the stream sends no other id before.
            let lost = EventReader(servers.url(0, "/me/events"), token: ann, lastEventID: "x")
            #expect(await lost.waitUntil { $0.events.count == 1 })
            #expect(lost.events.map(\.name) == ["gap"])
            // Erasing the user sends a gap to all devices.
            try await TestServers.send(.DELETE, servers.url(0, "/me"), as: ann)
            for reader in [phone, resumed] { #expect(await reader.waitUntil { $0.events.last?.name == "gap" }) }
        }
    }

    @Test("The diffs of a shelf's stream lead to its current order")
    func shelfDiffsLeadToOrder()
        async throws
    {
        try await TestServers.run { servers in
            let writer = try await TestServers.token("m", [.catalogWrite])
            let path = "/stores/corner/shelves/dairy"
            let readers = (0..<2).map { EventReader(servers.url($0, path + "/events?sort=position&limit=5")) }
            for reader in readers { #expect(await reader.waitUntil { $0.events.count == 1 }) }
            func order() async throws -> [String] {
                let response = try await TestServers.send(
                    .GET,
                    servers.url(0, path + "/order?sort=position"),
                    as: writer
                )
                try #require(response.status == 200, "\(response.json.text)")
                guard case .array(let ids)? = response.json["ids"] else { return [] }
                try #require(ids.count >= 5)
                return ids.prefix(5).map { if case .string(let id) = $0 { id } else { "" } }
            }
            var ids = try await order()
            for round in 0..<12 {
                let id = ids[(round * 7 + 3) % 5]
                let target = round % 3 == 0 ? #""place":"last""# : #""position":\#(round % 4)"#
                let body = #"{"moves":[{"ids":["\#(id)"],\#(target)}]}"#
                #expect(
                    try await TestServers.send(.POST, servers.url(round % 2, path + "/order/moves"), body, as: writer)
                        .status == 200
                )
                ids = try await order()
            }
            // A price changes the content, not the order.
            let patch = #"{"price_minor":12345}"#
            try await TestServers.send(.PATCH, servers.url(0, "/stores/corner/products/\(ids[1])"), patch, as: writer)
            let expected = ids
            for reader in readers {
                #expect(
                    await reader.waitUntil { reader in reader.events.contains { $0.data.contains(#""changed":[{"#) } }
                )
                #expect(try Self.apply(reader.events) == expected)
            }
            // A resumed stream repeats nothing; from an unknown version it sends the whole order.
            let version = try #require(readers[0].events.last?.id)
            let resumed = EventReader(servers.url(0, path + "/events?sort=position&limit=5"), lastEventID: version)
            let lost = EventReader(servers.url(0, path + "/events?sort=position&limit=5"), lastEventID: "1")
            #expect(await lost.waitUntil { !$0.events.isEmpty })
            #expect(lost.events[0].data.contains(#""mode":"order""#))
            #expect(!lost.events[0].data.contains(#""products":"#))
            // On request the first event has the products, so that a client can show them without another request.
            let full = EventReader(servers.url(0, path + "/events?sort=position&limit=5&products=true"))
            #expect(await full.waitUntil { !$0.events.isEmpty })
            let first = try JSONReader.parse(Array(full.events[0].data.utf8))
            let skus = first["products"]?.elements?.compactMap { $0["sku"] }
            #expect(skus?.count == 5 && skus == first["ids"]?.elements)
            let body = #"{"moves":[{"ids":["\#(ids[4])"],"place":"first"}]}"#
            try await TestServers.send(.POST, servers.url(1, path + "/order/moves"), body, as: writer)
            #expect(await resumed.waitUntil { !$0.events.isEmpty })
            #expect(resumed.events[0].data.contains(#""mode":"moves""#))
            #expect(resumed.events[0].data.contains(#""from_version":\#(version)"#))
            // Deleting a shelf ends its streams.
            #expect(try await TestServers.send(.DELETE, servers.url(0, path), as: writer).status == 204)
            for reader in readers {
                #expect(await reader.waitUntil { $0.hasEnded })
                #expect(reader.events.last?.name == "gone")
            }
            let none = EventReader(servers.url(0, path + "/events"))
            #expect(await none.waitUntil { $0.hasEnded })
            #expect(none.status == 404, "\(none.events)")
        }
    }

    /// Returns the order of a client that applies the events.
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

    @Test("No event is missing after the listener's connection was lost")
    func noEventIsLostOnReconnect() async throws {
        try await TestServers.run { servers in
            let ann = try await TestServers.token("ann")
            let reader = EventReader(servers.url(0, "/me/events"), token: ann)
            #expect(await reader.waitUntil { !$0.lastID.isEmpty })
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
                let put = try await TestServers.send(
                    .PUT,
                    servers.url(1, "/me/settings/k\(round)"),
                    #"{"value":\#(round)}"#,
                    as: ann
                )
                #expect(put.status == 200)
            }
            await admin.close()
            #expect(await reader.waitUntil { $0.events.count >= 30 })
            let ids = reader.events.compactMap { Int($0.id) }
            #expect(ids.count == 30)
            #expect(ids == ids.sorted())
            #expect(Set(ids).count == 30)
            #expect(reader.events.allSatisfy { $0.name == "setting" })
        }
    }

    @Test("A stopping server closes its streams so that devices connect to another one")
    func stoppingServerClosesStreams() async throws {
        try await TestServers.run { servers in
            let ann = try await TestServers.token("ann")
            let reader = EventReader(servers.url(0, "/me/events"), token: ann)
            let shelf = EventReader(servers.url(0, "/stores/corner/shelves/dairy/events"))
            #expect(await reader.waitUntil { !$0.lastID.isEmpty })
            #expect(await shelf.waitUntil { !$0.events.isEmpty })
            servers.processes[0].signal(SIGTERM)
            #expect(await servers.processes[0].wait() == 0)
            for stream in [reader, shelf] {
                #expect(await stream.waitUntil { $0.hasEnded })
                try #require(stream.retries.count == 2)
                #expect((500...4000).contains(stream.retries[1]))
                #expect(stream.isAskedToReconnect)
            }
            #expect(reader.starts == [#"{"revision":\#(reader.lastID)}"#])
            #expect(shelf.starts.isEmpty)
            try await TestServers.send(.PUT, servers.url(1, "/me/settings/k"), #"{"value":true}"#, as: ann)
            let moved = EventReader(servers.url(1, "/me/events"), token: ann, lastEventID: reader.lastID)
            #expect(await moved.waitUntil { $0.events.count == 1 })
        }
    }
}
