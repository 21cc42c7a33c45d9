import CatalogJSON
import AisleDiff
import Catalog
import Foundation
import Testing

/// A device that shows one list: what it does while it is away it sends when it is back, and it learns what others did from
/// events alone while it is there.
actor ListDevice {
    struct Operation: Sendable {
        var method: HTTPMethod
        var path: String
        var body: String
        /// Whether what it names may be gone by then.
        var mayBeLate = false
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
    private var read = 0
    /// How often it read anew what it should have been told.
    private(set) var gaps = 0
    /// How many changes it was told of.
    private(set) var told = 0

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
        #expect(await reader.reaches { !$0.lastID.isEmpty })
        (self.reader, read) = (reader, 0)
        let waiting = queue
        queue = []
        for operation in waiting { try await send(operation) }
        try await readAnew()
    }

    func perform(_ operation: Operation) async throws {
        guard isOnline else { return queue.append(operation) }
        try await send(operation)
    }

    private func send(_ operation: Operation) async throws {
        let url = servers.url(server, "/me/lists/\(list)\(operation.path)")
        let answer = try await TestServers.send(operation.method, url, operation.body, as: token)
        let allowed = operation.mayBeLate ? [200, 422] : [200, 201]
        #expect(allowed.contains(answer.status), "\(operation): \(answer.json.text)")
    }

    private func readAnew() async throws {
        let url = servers.url(server, "/me/lists/\(list)/items?since=\(version)")
        let answer = try await TestServers.send(.GET, url, as: token)
        take(answer.json["items"])
        guard case .array(let ids)? = answer.json["order"] else { return #expect(Bool(false), "no order") }
        order = ids.map { Self.text($0) }
        version = Int64(answer.json["version"]?.text ?? "") ?? -1
    }

    /// Takes in what was told until now.
    func catchUp() async throws {
        guard let reader else { return }
        let events = reader.events
        for event in events[read...] {
            read += 1
            #expect(event.name == "list")
            let json = try JSONReader.parse(Array(event.data.utf8))
            guard Self.text(json["list"]?["id"]) == list, let next = Int64(json["version"]?.text ?? "") else {
                continue
            }
            if next <= version { continue }
            guard next == version + 1 else {
                gaps += 1
                try await readAnew()
                continue
            }
            take(json["items"])
            let diff = try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data((json["diff"]?.text ?? "").utf8))
            order = try diff.apply(to: order)
            version = next
            told += 1
        }
    }

    /// Waits until it was told of everything up to a version.
    func reaches(_ wanted: Int64) async throws {
        guard let reader else { return #expect(Bool(false), "it is away") }
        let list = list
        #expect(
            await reader.reaches { reader in
                reader.events.contains { $0.data.contains(list) && $0.data.contains("\"version\":\(wanted),\"diff\"") }
            } || version >= wanted
        )
        try await catchUp()
    }

    private func take(_ changed: JSONValue?) {
        guard case .array(let values)? = changed else { return }
        for value in values { items[Self.text(value["id"])] = value }
    }

    /// What stands, without what only the server makes.
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
