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
                    Self.yield(change, to: continuation)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Yields a notice. If the buffer overflows, the oldest notices are dropped and a gap replaces them.
    static func yield(_ change: ChangeNotice, to continuation: AsyncStream<ChangeNotice>.Continuation) {
        if case .dropped = continuation.yield(change), change != .gap { continuation.yield(.gap) }
    }

    /// - Returns: nil if a gap follows.
    static func notice(_ notice: PostgresNotice) -> ChangeNotice? {
        switch notice {
        case .gap: .gap
        case .notification(_, let payload): ChangeAnnouncer.topics(payload).map { .changed($0) } ?? .gap
        case .lost: nil
        }
    }
}
