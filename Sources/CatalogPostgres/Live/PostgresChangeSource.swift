package import Catalog
package import LibPQ

/// A change source that uses LISTEN on one connection per server.
package struct PostgresChangeSource: ChangeSource {
    private let configuration: PostgresConfiguration

    package init(_ configuration: PostgresConfiguration) { self.configuration = configuration }

    package func notices() throws -> AsyncStream<ChangeNotice> {
        let incoming = try PostgresListener(configuration, channels: [ChangeAnnouncer.channel]).notices()
        return AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
            let task = Task {
                for await notice in incoming {
                    guard let change = Self.notice(notice) else { continue }
                    // If the buffer overflows, the oldest notices are dropped and a gap replaces them.
                    if case .dropped = continuation.yield(change), change != .gap { continuation.yield(.gap) }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private static func notice(_ notice: PostgresNotice) -> ChangeNotice? {
        switch notice {
        case .gap: .gap
        case .notification(_, let payload): ChangeAnnouncer.topics(payload).map { .changed($0) } ?? .gap
        case .lost: nil
        }
    }
}
