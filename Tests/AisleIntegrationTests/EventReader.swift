import Foundation
import Synchronization
import Testing
import WebClient

/// A device that reads Server-Sent Events over its own socket.
final class EventReader: Sendable {
    struct Event: Sendable, Equatable {
        var name = "message"
        var id = ""
        var data = ""
    }

    private struct State {
        var events: [Event] = []
        var starts: [String] = []
        var isAskedToReconnect = false
        var retries: [Int] = []
        var lastID = ""
        var status: Int?
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ url: String, token: String? = nil, lastEventID: String? = nil) {
        var fetch = HTTPFetch("GET", url, timeout: .seconds(600), bodyLimit: 256 << 20)
        if let token { fetch.headers.append(("Authorization", "Bearer \(token)")) }
        if let lastEventID { fetch.headers.append(("Last-Event-ID", lastEventID)) }
        let prepared = fetch
        task.withLock { $0 = Task { [weak self] in await self?.read(prepared) } }
    }

    deinit { stop() }

    func stop() { task.withLock { $0?.cancel() } }

    private func read(_ fetch: HTTPFetch) async {
        defer { update { $0.hasEnded = true } }
        guard let response = try? await HTTPClient.shared.stream(fetch) else { return }
        update { $0.status = response.head.status }
        var rest: [UInt8] = []
        do {
            for try await piece in response.body {
                rest += piece
                while let end = rest.firstRange(of: [10, 10]) {
                    parse(String(decoding: rest[..<end.lowerBound], as: UTF8.self))
                    rest.removeSubrange(..<end.upperBound)
                }
            }
        } catch {}
    }

    /// Parses one block as the HTML standard requires; the events of the stream itself are kept apart.
    private func parse(_ block: String) {
        var event = Event()
        update { state in
            for line in block.split(separator: "\n") {
                let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { continue }
                switch parts[0] {
                case "event": event.name = parts[1]
                case "id": state.lastID = parts[1]
                case "data": event.data = parts[1]
                case "retry": state.retries.append(Int(parts[1]) ?? -1)
                default: break
                }
            }
            event.id = state.lastID
            guard !event.data.isEmpty else {
                // Some clients take a block without data for an event.
                Issue.record("an event without data: \(block)")
                return
            }
            switch event.name {
            case "start": state.starts.append(event.data)
            case "reconnect": state.isAskedToReconnect = true
            default: state.events.append(event)
            }
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    var events: [Event] { state.withLock { $0.events } }
    /// The data of the events that open a user's stream.
    var starts: [String] { state.withLock { $0.starts } }
    /// Whether the server closed the stream with a request to connect again.
    var isAskedToReconnect: Bool { state.withLock { $0.isAskedToReconnect } }
    var retries: [Int] { state.withLock { $0.retries } }
    var lastID: String { state.withLock { $0.lastID } }
    var status: Int? { state.withLock { $0.status } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits for a condition; returns false at the end of the stream or after a minute.
    func waitUntil(_ condition: @escaping @Sendable (EventReader) -> Bool) async -> Bool {
        let watchdog = Task { [weak self] in
            guard (try? await Task.sleep(for: .seconds(60))) != nil else { return }
            self?.stop()
        }
        defer { watchdog.cancel() }
        while !condition(self) {
            if hasEnded { return condition(self) }
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.hasEnded { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isOver || condition(self) { update { _ in } }
                if isOver { continuation.resume() }
            }
        }
        return true
    }
}
