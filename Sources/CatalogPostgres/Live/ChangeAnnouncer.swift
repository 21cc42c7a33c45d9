package import Catalog
package import LibPQ
internal import Synchronization

/// Notifies all servers, including this one, of changes in batches, after the commit.
///
/// Only event streams listen, and only their latency depends on it: servers also poll the counters every second. Pages need no
/// notification, because each read compares versions. A notification inside the
/// write's own transaction would cost 40% of write throughput, because all of them would queue for one lock.
package final class ChangeAnnouncer: Sendable {
    package static let channel = "aisle"

    private struct State {
        var topics: Set<ChangeTopic> = []
        var isSending = false
    }

    private let pool: PostgresPool?
    private let state = Mutex(State())

    /// The minimum interval between batches.
    private static let batchInterval: Duration = .milliseconds(10)
    /// The maximum size of a notification, in bytes; PostgreSQL's limit is 7999.
    private static let limit = 7000

    /// - Parameter configuration: nil disables notifications.
    package init(_ configuration: PostgresConfiguration?) {
        pool = configuration.map {
            var configuration = $0
            // These transactions have nothing to lose.
            configuration.settings["synchronous_commit"] = "off"
            return PostgresPool(configuration, options: .init(size: 1))
        }
    }

    package func shutDown() { pool?.shutDown() }

    /// Queues a topic without waiting.
    package func announce(_ topic: ChangeTopic) {
        guard let pool else { return }
        let starts = state.withLock { state in
            state.topics.insert(topic)
            defer { state.isSending = true }
            return !state.isSending
        }
        if starts { Task { await send(pool) } }
    }

    /// Sends all queued topics before the program exits.
    package func flush() async {
        guard let pool else { return }
        let topics = state.withLock { state in
            defer { state.topics = [] }
            return state.topics
        }
        await send(topics, pool)
    }

    private func send(_ pool: PostgresPool) async {
        while let topics = takeTopics() {
            await send(topics, pool)
            try? await Task.sleep(for: Self.batchInterval)
        }
    }

    private func send(_ topics: Set<ChangeTopic>, _ pool: PostgresPool) async {
        for payload in Self.payloads(topics) {
            // If the database is unreachable, no server can be notified.
            _ = try? await pool.perform(within: TimeLimit.lookup.duration) {
                try $0.execute(DatabaseStatements.announce, [.text(Self.channel), .text(payload)])
            }
        }
    }

    private func takeTopics() -> Set<ChangeTopic>? {
        state.withLock { state in
            guard !state.topics.isEmpty else {
                state.isSending = false
                return nil
            }
            defer { state.topics = [] }
            return state.topics
        }
    }

    static func payloads(_ topics: Set<ChangeTopic>) -> [String] {
        var payloads: [String] = []
        for topic in topics {
            let line =
                switch topic {
                case .user(let user): "u\(user.text)"
                case .store(let key): "s\(key.text)"
                case .all: "*"
                }
            if let last = payloads.last, last.utf8.count + line.utf8.count < limit {
                payloads[payloads.count - 1] = last + "\n" + line
            } else {
                payloads.append(line)
            }
        }
        return payloads
    }

    /// - Returns: nil for a payload of another program.
    static func topics(_ payload: String) -> Set<ChangeTopic>? {
        var topics: Set<ChangeTopic> = []
        for line in payload.split(separator: "\n") {
            switch line.first {
            case "u":
                guard let user = UserID(line.dropFirst()) else { return nil }
                topics.insert(.user(user))
            case "s":
                guard let store = CatalogKey(line.dropFirst()) else { return nil }
                topics.insert(.store(store))
            case "*": topics.insert(.all)
            default: return nil
            }
        }
        return topics
    }
}
