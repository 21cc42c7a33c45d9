import JSON
import AisleDiff
import Catalog
import CatalogJSON
import Foundation
import InMemoryCatalog
import Live
import Synchronization
import Testing
import TestSupport

/// Subscriptions without a socket, on the in-memory catalog, whose counters are the only source of changes.
@Suite(.timeLimit(.minutes(15))) struct LiveHubTests {
    private static let user = UserID("ann")!
    private static let address = ShelfAddress(CatalogKey("s")!, CatalogKey("x")!)

    private func withHub(
        _ change: (inout LiveHub.Options) -> Void = { _ in },
        _ body: (InMemoryCatalog, LiveHub) async throws -> Void
    ) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: Self.address.store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: Self.address.shelf, title: "X"), in: Self.address.store)
        for number in 0..<20 {
            let product = Product(sku: SKU("p\(number)")!, name: "P\(number)", priceMinor: Int64(number))
            _ = try await catalog.put(product, in: Self.address.store)
            _ = try await catalog.place(product.sku, on: Self.address.shelf, in: Self.address.store)
        }
        var options = LiveHub.Options()
        options.poll = .milliseconds(5)
        options.heartbeat = .milliseconds(40)
        change(&options)
        let hub = LiveHub(pages: catalog, versions: catalog, source: nil, options: options)
        let running = Task { await hub.run() }
        defer { running.cancel() }
        try await body(catalog, hub)
    }

    private func set(_ catalog: InMemoryCatalog, _ key: String, _ value: Int, of user: UserID = user) async throws {
        let write = SettingsEdit.Write(SettingKey(key)!, .number("\(value)"))
        _ = try await catalog.edit(SettingsEdit([write]), of: user)
    }

    /// Returns the next events, skipping heartbeats.
    private func events(_ changes: any LiveSubscription) async throws -> [LiveEvent]? {
        while let output = try await changes.next() { if case .events(let events) = output { return events } }
        return nil
    }

    @Test("Subscribers with a search get the products that it finds, also after a change of synonyms")
    func searchSubscription() async throws {
        try await withHub { catalog, hub in
            let search = try SearchText("p7")
            let changes = try await hub.subscribe(Self.address, by: nil, search: search, limit: 10, from: .now)
            let first = try await events(changes)
            let whole = String(decoding: try #require(first?.first).data, as: UTF8.self)
            #expect(whole.contains(#""ids":["p7"]"#) && whole.contains(#""q":{"text":"p7","class":"typo"}"#))
            _ = try await catalog.set(try Synonyms(groups: [["p7", "p12"]], oneWay: []), for: .deployment)
            let second = try await events(changes)
            let diff = String(decoding: try #require(second?.first).data, as: UTF8.self)
            #expect(diff.contains(#""inserts":[{"id":"p12","to":1,"after":"p7""#), "\(diff)")
        }
    }

    @Test("Subscribers with a filter get diffs of the matching products")
    func filteredSubscription()
        async throws
    {
        try await withHub { catalog, hub in
            let cheap = try Filter(query: "price_max=0.04")
            let sort = Sort(.price, .ascending)
            let changes = try await hub.subscribe(Self.address, by: sort, filter: cheap, limit: 10, from: .now)
            let first = try await events(changes)
            #expect(String(decoding: first![0].data, as: UTF8.self).contains(#""ids":["p0","p1","p2","p3","p4"]"#))
            // One product becomes too expensive and leaves; another becomes cheap and enters with its data.
            _ = try await catalog.setPrices(
                [PriceChange(sku: SKU("p0")!, priceMinor: 90), PriceChange(sku: SKU("p9")!, priceMinor: 0)],
                in: Self.address.store
            )
            let next = String(decoding: try await events(changes)![0].data, as: UTF8.self)
            #expect(next.contains(#""deletes":[{"id":"p0","from":0}]"#))
            #expect(next.contains(#""inserts":[{"id":"p9","to":0"#))
        }
    }

    @Test("A device whose state is unknown is asked to resync once, and then gets changes")
    func unknownStartResyncs() async throws {
        try await withHub { catalog, hub in
            try await set(catalog, "a", 1)
            let changes = try await hub.subscribe(Self.user, from: .unknown)
            // Without an id, a client whose connection breaks here asks the same way again.
            #expect(await changes.revision == nil)
            #expect(try await events(changes)?.map(\.name) == [.gap])
            let known = try #require(await changes.revision)
            try await set(catalog, "b", 2)
            let next = try #require(try await events(changes))
            #expect(next.map(\.name) == [.setting])
            #expect(next[0].id > known)
        }
    }

    private func edit(_ catalog: InMemoryCatalog, _ edit: ManualOrderEdit) async throws {
        let request = OrderEditRequest(store: Self.address.store, shelf: Self.address.shelf, edit: edit)
        _ = try await catalog.editOrder(request, once: nil)
    }

    @Test("A slow reader gets pages of changes and misses none")
    func slowReaderMissesNothing()
        async throws
    {
        try await withHub { catalog, hub in
            let slow = try await hub.subscribe(Self.user, from: .now)
            let quick = try await hub.subscribe(Self.user, from: .now)
            for number in 0..<700 {
                try await set(catalog, "k\(number)", number)
                if number % 100 == 0 { #expect(try await events(quick)?.isEmpty == false) }
            }
            for reader in [slow, quick] {
                var last: [String: Int64] = [:]
                while last["k699"] == nil {
                    let part = try #require(try await events(reader))
                    // Pages stay small, however many changes were missed.
                    #expect(part.count <= 128)
                    #expect(part.allSatisfy { $0.name == .setting })
                    for event in part {
                        guard case .string(let key)? = try JSONReader.parse(event.data)["key"] else { continue }
                        #expect(last.updateValue(event.id, forKey: key) == nil)
                    }
                }
                if reader === slow { #expect(last.count == 700) }
            }
        }
    }

    @Test("Changes that a subscriber missed arrive as one diff")
    func missedChangesAreOneDiff()
        async throws
    {
        try await withHub { catalog, hub in
            let sort = Sort(.position, .ascending)
            let slow = try await hub.subscribe(Self.address, by: sort, limit: 10, from: .now)
            let quick = try await hub.subscribe(Self.address, by: sort, limit: 10, from: .now)
            for reader in [slow, quick] { #expect(try await events(reader)?.count == 1) }
            for number in 1..<6 {
                try await edit(catalog, .moves([OrderMove(["p\(number)"], .last)]))
                #expect(try await events(quick)?.count == 1)
            }
            let missed = try #require(try await events(slow))
            try #require(missed.count == 1)
            let diff = try JSONReader.parse(missed[0].data)
            let deletes = try #require(diff["deletes"]?.elements)
            let inserts = try #require(diff["inserts"]?.elements)
            #expect(deletes.count == 5)
            #expect(inserts.count == 5)
            #expect(diff["moves"]?.text == "[]")
            #expect(inserts.allSatisfy { $0["product"] != nil })
        }
    }

    @Test("Subscribers of the same order share one diff")
    func equalSubscriptionsShareDiffs() async throws {
        try await withHub { catalog, hub in
            var readers: [ShelfSubscription] = []
            for _ in 0..<50 { readers.append(try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)) }
            for reader in readers { _ = try await events(reader) }
            _ = try await catalog.put(
                Product(sku: SKU("p7")!, name: "P7, cheaper", priceMinor: 1),
                in: Self.address.store
            )
            _ = try await catalog.put(
                Shelf(key: Self.address.shelf, title: "X", defaultSort: Sort(.price, .descending)),
                in: Self.address.store
            )
            var received: Set<LiveEvent> = []
            for reader in readers {
                var last: LiveEvent?
                // A change of the shelf's default sort is applied.
                while last.map({ String(decoding: $0.data, as: UTF8.self).contains(#""to_sort":"-price""#) }) != true {
                    last = try #require(try await events(reader)).last
                }
                received.insert(last!)
            }
            #expect(received.count <= 2)
        }
    }

    @Test("A change of an inherited sort reaches the subscribers of a shelf")
    func inheritedSortIsAnnounced() async throws {
        try await withHub { catalog, hub in
            let (store, parent) = (Self.address.store, CatalogKey("parent")!)
            _ = try await catalog.put(Shelf(key: parent, title: "P"), in: store)
            _ = try await catalog.put(Shelf(key: Self.address.shelf, title: "X", parent: parent), in: store)
            let changes = try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
            _ = try await events(changes)
            let sort = Sort(.price, .descending)
            _ = try await catalog.put(Shelf(key: parent, title: "P", defaultSort: sort), in: store)
            let received = try #require(try await events(changes))
            #expect(String(decoding: received[0].data, as: UTF8.self).contains(#""to_sort":"-price""#))
        }
    }

    @Test("A subscriber that reconnects to a deleted shelf gets the event `gone`")
    func deletedShelfSendsGone()
        async throws
    {
        try await withHub { catalog, hub in
            let changes = try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
            _ = try await events(changes)
            try await catalog.remove(shelf: Self.address.shelf, from: Self.address.store)
            #expect(try await events(changes)?.map(\.name) == [.gone])
            #expect(await changes.next() == nil)
            await #expect(throws: CatalogError.self) {
                try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
            }
            // A recreated shelf can be subscribed to again, and starts at its current version.
            _ = try await catalog.put(Shelf(key: Self.address.shelf, title: "X"), in: Self.address.store)
            let again = try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now)
            let first = try #require(try await events(again))
            #expect(String(decoding: first[0].data, as: UTF8.self).contains(#""ids":[]"#))
        }
    }

    /// Reconnects at every announced version, and receives the diff from there to the current order.
    @Test("A subscriber that reconnects continues from its version")
    func resumesFromVersion() async throws {
        try await withHub { catalog, hub in
            let sort = Sort(.position, .ascending)
            let first = try await hub.subscribe(Self.address, by: sort, limit: 10, from: .now)
            var shown: [Int64: [String]] = [:]
            var ids: [String] = []
            for round in 0..<8 {
                for event in try #require(try await events(first)) {
                    ids = try Self.applied(event, to: ids)
                    shown[event.id] = ids
                }
                // Move a shown product other than the first, so that each move causes an event.
                let move = OrderMove([ids[round * 3 % 9 + 1]], round % 2 == 0 ? .first : .last)
                try await edit(catalog, .moves([move]))
            }
            for event in try #require(try await events(first)) { ids = try Self.applied(event, to: ids) }
            for (version, list) in shown {
                let resumed = try await hub.subscribe(Self.address, by: sort, limit: 10, from: .after(version))
                var led = list
                for event in try #require(try await events(resumed)) {
                    #expect(!String(decoding: event.data, as: UTF8.self).contains(#""mode":"order""#))
                    led = try Self.applied(event, to: led)
                }
                #expect(led == ids)
            }
        }
    }

    private static func applied(_ event: LiveEvent, to list: [String]) throws -> [String] {
        let diff = try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data(event.data))
        return try diff.apply(to: list)
    }

    @Test("A stream without events sends heartbeats")
    func sendsHeartbeats() async throws {
        try await withHub { _, hub in
            let changes: [any LiveSubscription] = [
                try await hub.subscribe(Self.user, from: .now),
                try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now),
            ]
            _ = try await events(changes[1])
            for reader in changes {
                for _ in 0..<3 {
                    let output = try await reader.next()
                    guard case .heartbeat? = output else {
                        Issue.record("not a heartbeat: \(String(describing: output))")
                        return
                    }
                }
            }
        }
    }

    @Test("A stream ends when its token expires")
    func streamEndsWithToken() async throws {
        try await withHub { _, hub in
            let soon = Timestamp(microseconds: Timestamp.now().microseconds + 50_000)
            let changes = try await hub.subscribe(Self.user, from: .now, until: soon)
            while try await changes.next() != nil {}
            #expect(Timestamp.now() >= soon)
        }
    }

    @Test("The number of subscribers is limited")
    func limitsSubscriptions() async throws {
        try await withHub({
            $0.subscriptionLimit = 4
            $0.subscriptionsPerUserLimit = 2
            $0.shelfFeedLimit = 1
        }) { _, hub in
            var subscriptions: [any LiveSubscription] = [
                try await hub.subscribe(Self.user, from: .now), try await hub.subscribe(Self.user, from: .after(3)),
            ]
            await #expect(throws: CatalogError.self) { try await hub.subscribe(Self.user, from: .now) }
            subscriptions.append(try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now))
            await #expect(throws: CatalogError.unavailable) {
                try await hub.subscribe(Self.address, by: nil, limit: 6, from: .now)
            }
            let none = ShelfAddress(Self.address.store, CatalogKey("none")!)
            await #expect(throws: CatalogError.self) { try await hub.subscribe(none, by: nil, limit: 5, from: .now) }
            subscriptions.append(try await hub.subscribe(UserID("bob")!, from: .now))
            subscriptions.append(try await hub.subscribe(UserID("eve")!, from: .now))
            await #expect(throws: CatalogError.unavailable) { try await hub.subscribe(UserID("tim")!, from: .now) }
            // A closed subscription frees its slot.
            subscriptions.removeAll()
            _ = try await hub.subscribe(Self.user, from: .now)
            hub.close()
            await #expect(throws: CatalogError.unavailable) { try await hub.subscribe(Self.user, from: .now) }
        }
    }

    @Test("Closing the hub ends all streams")
    func closingEndsAllStreams() async throws {
        try await withHub { _, hub in
            let changes: [any LiveSubscription] = [
                try await hub.subscribe(Self.user, from: .now),
                try await hub.subscribe(Self.address, by: nil, limit: 5, from: .now),
            ]
            hub.close()
            for reader in changes { while try await reader.next() != nil {} }
            #expect(hub.isClosed)
        }
    }
}
