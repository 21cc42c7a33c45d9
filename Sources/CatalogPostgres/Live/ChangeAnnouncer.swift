package import Catalog
package import LibPQ
internal import Synchronization

/// Tells other servers what was changed, after the commit and many changes at a time.
///
/// Nothing depends on it but speed: who hears nothing looks at the counters within a second. A notification inside the
/// write's own transaction would cost two fifths of the writes, as all of them queue for one lock.
package final class ChangeAnnouncer: Sendable {
    package static let channel = "aisle"

    private struct State {
        var topics: Set<ChangeTopic> = []
        var isSending = false
    }

    private let pool: PostgresPool?
    private let state = Mutex(State())

    /// How long changes are gathered after some were sent.
    private static let pause: Duration = .milliseconds(10)
    /// The most bytes of a notification. PostgreSQL takes 7999.
    private static let limit = 7000

    /// - Parameter configuration: nil tells nobody.
    package init(_ configuration: PostgresConfiguration?) {
        pool = configuration.map {
            var configuration = $0
            // There is nothing in such a transaction that could be lost.
            configuration.settings["synchronous_commit"] = "off"
            return PostgresPool(configuration, options: .init(size: 1))
        }
    }

    package func shutDown() { pool?.shutDown() }

    /// Returns at once.
    package func announce(_ topic: ChangeTopic) {
        guard let pool else { return }
        let starts = state.withLock { state in
            state.topics.insert(topic)
            defer { state.isSending = true }
            return !state.isSending
        }
        if starts { Task { await send(pool) } }
    }

    /// Tells what is not told yet, for a program that is about to end.
    package func sendAll() async {
        guard let pool else { return }
        let topics = state.withLock { state in
            defer { state.topics = [] }
            return state.topics
        }
        await send(topics, pool)
    }

    private func send(_ pool: PostgresPool) async {
        while let topics = taken() {
            await send(topics, pool)
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func send(_ topics: Set<ChangeTopic>, _ pool: PostgresPool) async {
        for payload in Self.payloads(topics) {
            // Where the database is away there is nobody to tell.
            _ = try? await pool.perform(within: .seconds(5)) {
                try $0.execute(DatabaseStatements.announce, [.text(Self.channel), .text(payload)])
            }
        }
    }

    private func taken() -> Set<ChangeTopic>? {
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
                case .anything: "*"
                }
            if let last = payloads.last, last.utf8.count + line.utf8.count < limit {
                payloads[payloads.count - 1] = last + "\n" + line
            } else {
                payloads.append(line)
            }
        }
        return payloads
    }

    /// - Returns: nil for what this program did not write.
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
            case "*": topics.insert(.anything)
            default: return nil
            }
        }
        return topics
    }
}
