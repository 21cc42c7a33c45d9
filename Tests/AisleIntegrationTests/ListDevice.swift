import JSON
import AisleDiff
import Catalog
import CatalogJSON
import Foundation
import Testing
import TestSupport

/// A device that shows one list. When the device reconnects, it sends its offline changes. It receives the changes of
/// others only through events while it is online.
actor ListDevice {
    struct Operation: Sendable {
        var method: HTTPMethod
        var path: String
        var body: String
        /// Whether its items may have been deleted by then.
        var mayConflict = false
    }

    private let servers: TestServers
    private let server: Int
    private let token: String
    private let list: String
    private var items: [String: JSONValue] = [:]
    private(set) var order: [String] = []
    private(set) var version: Int64 = 0
    private var queue: [Operation] = []
    private var reader: EventReader?
    private var readCount = 0
    /// The number of times it had to reload the list because an event was missing.
    private(set) var gaps = 0
    /// The number of changes received as events.
    private(set) var receivedCount = 0

    init(_ servers: TestServers, server: Int, token: String, list: String) {
        self.servers = servers
        self.server = server
        self.token = token
        self.list = list
    }

    var isOnline: Bool { reader != nil }

    func goOffline() {
        reader?.stop()
        reader = nil
    }

    func goOnline() async throws {
        guard reader == nil else { return }
        let reader = EventReader(servers.url(server, "/me/events"), token: token)
        #expect(await reader.waitUntil { !$0.lastID.isEmpty })
        (self.reader, readCount) = (reader, 0)
        let waiting = queue
        queue = []
        for operation in waiting { try await send(operation) }
        try await reload()
    }

    func perform(_ operation: Operation) async throws {
        guard isOnline else { return queue.append(operation) }
        try await send(operation)
    }

    private func send(_ operation: Operation) async throws {
        let url = servers.url(server, "/me/lists/\(list)\(operation.path)")
        let response = try await TestServers.send(operation.method, url, operation.body, as: token)
        let allowed = operation.mayConflict ? [200, 422] : [200, 201]
        #expect(allowed.contains(response.status), "\(operation): \(response.json.text)")
    }

    private func reload() async throws {
        let url = servers.url(server, "/me/lists/\(list)/items?since=\(version)")
        let response = try await TestServers.send(.GET, url, as: token)
        store(response.json["items"])
        let ids = try #require(response.json["order"]?.elements)
        order = ids.map { Self.text($0) }
        version = Int64(response.json["version"]?.text ?? "") ?? -1
    }

    /// Applies the events received until now.
    func catchUp() async throws {
        guard let reader else { return }
        let events = reader.events
        for event in events[readCount...] {
            readCount += 1
            #expect(event.name == "list")
            let json = try JSONReader.parse(Array(event.data.utf8))
            guard Self.text(json["list"]?["id"]) == list, let next = Int64(json["version"]?.text ?? "") else {
                continue
            }
            if next <= version { continue }
            guard json["diff"]?["from_version"]?.text == "\(version)" else {
                gaps += 1
                try await reload()
                continue
            }
            store(json["items"])
            let diff = try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data((json["diff"]?.text ?? "").utf8))
            order = try diff.apply(to: order)
            version = next
            receivedCount += 1
        }
    }

    /// Waits until all events up to a version have been received.
    func waitForVersion(_ wanted: Int64) async throws {
        let reader = try #require(reader, "the device is offline")
        let list = list
        #expect(
            await reader.waitUntil { reader in
                reader.events.contains { $0.data.contains(list) && $0.data.contains("\"version\":\(wanted),\"diff\"") }
            } || version >= wanted
        )
        try await catchUp()
    }

    private func store(_ changed: JSONValue?) {
        guard case .array(let values)? = changed else { return }
        for value in values { items[Self.text(value["id"])] = value }
    }

    /// The shown items without server-generated fields.
    func shown() -> [String] {
        order.map { id in
            let item = items[id]
            return ["text", "quantity", "note", "checked"].map { item?[$0]?.text ?? "-" }.joined(separator: " ") + " "
                + id
        }
    }

    func isChecked(_ id: String) -> Bool { items[id]?["checked"] == .bool(true) }

    static func text(_ value: JSONValue?) -> String {
        if case .string(let text)? = value { text } else { value?.text ?? "" }
    }
}
