import JSON
import Catalog
import NIOHTTP1
import Ordering
import Synchronization
import Testing
import TestSupport

/// Three devices with one list on two servers: two devices of one user, and one of another user. Whatever the devices
/// change, online or offline, they converge and lose nothing.
@Suite(.timeLimit(.minutes(15))) struct ListSyncTests {
    /// The oracle: all edits of all devices, by their own clocks.
    private final class Log: Sendable {
        private struct State {
            var last = Timestamp.now().microseconds
            var fields: [String: [String: (moment: Int64, value: String)]] = [:]
            var added: [String] = []
        }

        private let state = Mutex(State())

        /// Returns a time that no other change has.
        func uniqueTime() -> Int64 {
            state.withLock { state in
                state.last = max(state.last + 1, Timestamp.now().microseconds)
                return state.last
            }
        }

        func record(_ item: String, _ field: String, _ value: String, at moment: Int64) {
            state.withLock { state in
                if let known = state.fields[item]?[field], known.moment >= moment { return }
                state.fields[item, default: [:]][field] = (moment, value)
            }
        }

        func add(_ item: String) { state.withLock { $0.added.append(item) } }
        var added: [String] { state.withLock { $0.added } }
        func value(_ item: String, _ field: String) -> String? { state.withLock { $0.fields[item]?[field]?.value } }
    }

    @Test("Devices that edit lists offline converge, and no edit is lost", arguments: [UInt64(1), 2])
    func offlineEditsConverge(_ seed: UInt64) async throws {
        try await TestServers.run { servers in
            let (ann, bob) = (try await TestServers.token("ann"), try await TestServers.token("bob"))
            let made = try await TestServers.send(.POST, servers.url(0, "/me/lists"), #"{"name":"Ours"}"#, as: ann)
            let list = ListDevice.text(made.json["id"])
            let path = "/me/lists/\(list)"
            let share = try await TestServers.send(
                .POST,
                servers.url(0, path + "/shares"),
                #"{"role":"editor"}"#,
                as: ann
            )
            let token = "{\"token\":\"\(ListDevice.text(share.json["token"]))\"}"
            #expect(try await TestServers.send(.POST, servers.url(1, "/me/lists/join"), token, as: bob).status == 200)
            let devices = [
                ListDevice(servers, server: 0, token: ann, list: list),
                ListDevice(servers, server: 1, token: ann, list: list),
                ListDevice(servers, server: 1, token: bob, list: list),
            ]
            for device in devices { try await device.goOnline() }
            let log = Log()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, device) in devices.enumerated() {
                    group.addTask { try await Self.simulate(device, log, seed: seed * 10 + UInt64(number)) }
                }
                try await group.waitForAll()
            }
            for device in devices { try await device.goOnline() }
            let end = try await TestServers.send(.GET, servers.url(0, path + "/items"), as: ann)
            let version = Int64(end.json["version"]?.text ?? "") ?? -1
            for device in devices { try await device.waitForVersion(version) }
            let shown = await devices[0].shown()
            for device in devices.dropFirst() { #expect(await device.shown() == shown) }
            let items = try #require(end.json["items"]?.elements)
            #expect(await devices[0].order == items.map { ListDevice.text($0["id"]) })
            // Each field has its latest value, and items that are not deleted exist.
            let itemsByID = Dictionary(uniqueKeysWithValues: items.map { (ListDevice.text($0["id"]), $0) })
            #expect(log.added.count > 20)
            for id in log.added {
                let isDeleted = log.value(id, "deleted") == "true"
                #expect((itemsByID[id] == nil) == isDeleted, "\(id)")
                for field in ["text", "quantity", "note", "checked"] {
                    guard let item = itemsByID[id], let value = log.value(id, field) else { continue }
                    #expect(ListDevice.text(item[field]) == value, "\(field) of \(id)")
                }
            }
            // Checked items come after the others, each group in the manual order.
            let checks = items.map { $0["checked"] == .bool(true) }
            #expect(checks == checks.sorted { !$0 && $1 })
            #expect(checks.contains(true))
            #expect(checks.contains(false))
            // No device missed an event while it was online.
            for device in devices {
                #expect(await device.gaps == 0)
                #expect(await device.receivedCount > 0)
            }
            try await Self.checkAndUncheck(devices[0], servers, path, ann)
        }
    }

    /// Simulates a device that goes online and offline and edits known items.
    private static func simulate(_ device: ListDevice, _ log: Log, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for step in 0..<60 {
            if Int.random(in: 0..<6, using: &generator) == 0 {
                if await device.isOnline { await device.goOffline() } else { try await device.goOnline() }
            }
            try await device.catchUp()
            let known = await device.order
            guard step > 3, !known.isEmpty, Int.random(in: 0..<4, using: &generator) > 0 else {
                let id = UniqueID.random().text
                log.add(id)
                try await device.perform(
                    .init(method: .POST, path: "/items", body: #"{"id":"\#(id)","text":"\#(step)"}"#)
                )
                continue
            }
            let id = known.randomElement(using: &generator)!
            let moment = log.uniqueTime()
            let at = Timestamp(microseconds: moment).rfc3339
            let (field, value, json): (String, String, String) =
                switch Int.random(in: 0..<7, using: &generator) {
                case 0: ("text", "t\(moment)", "\"t\(moment)\"")
                case 1: ("quantity", "\(step + 2)", "\"\(step + 2)\"")
                case 2: ("note", "n\(moment)", "\"n\(moment)\"")
                case 3, 4: Bool.random(using: &generator) ? ("checked", "true", "true") : ("checked", "false", "false")
                case 5: Bool.random(using: &generator) ? ("deleted", "true", "true") : ("deleted", "false", "false")
                default: ("", "", "")
                }
            if field.isEmpty {
                let target = known.randomElement(using: &generator)!
                let body = #"{"moves":[{"ids":["\#(id)"],"after":"\#(target)"}]}"#
                try await device.perform(.init(method: .POST, path: "/order/moves", body: body, mayConflict: true))
                continue
            }
            log.record(id, field, value, at: moment)
            let body = #"{"\#(field)":\#(json),"modified_at":"\#(at)"}"#
            try await device.perform(.init(method: .PATCH, path: "/items/\(id)", body: body))
        }
    }

    /// Checks and unchecks each item in turn: it moves to the end, then back to its exact position.
    private static func checkAndUncheck(
        _ device: ListDevice,
        _ servers: TestServers,
        _ path: String,
        _ token: String
    ) async throws {
        let before = await device.order
        for id in before where !(await device.isChecked(id)) {
            for isChecked in [true, false] {
                let url = servers.url(1, "\(path)/items/\(id)")
                let response = try await TestServers.send(.PATCH, url, #"{"checked":\#(isChecked)}"#, as: token)
                try await device.waitForVersion(Int64(response.json["version"]?.text ?? "") ?? -1)
                let order = await device.order
                guard isChecked else {
                    #expect(order == before)
                    continue
                }
                var checks: [Bool] = []
                for other in order { checks.append(await device.isChecked(other)) }
                #expect(checks == checks.sorted { !$0 && $1 })
                #expect(checks[order.firstIndex(of: id)!])
                #expect(order.filter { $0 != id } == before.filter { $0 != id })
            }
        }
    }
}
