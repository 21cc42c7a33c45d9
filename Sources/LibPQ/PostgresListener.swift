internal import CLibPQ
internal import Glibc
internal import Platform
internal import Synchronization

/// LISTEN on a separate connection, which is re-established while there are listeners.
package struct PostgresListener: Sendable {
    private let configuration: PostgresConfiguration
    private let channels: [String]

    package init(_ configuration: PostgresConfiguration, channels: [String]) {
        self.configuration = configuration
        self.channels = channels
    }

    /// Returns notices until the consumer stops. A slow consumer loses the oldest ones and gets a `gap`.
    package func notices(buffering limit: Int = 1024) throws -> AsyncStream<PostgresNotice> {
        let loop = try ListenLoop(configuration, channels)
        return AsyncStream(bufferingPolicy: .bufferingNewest(limit)) { continuation in
            continuation.onTermination = { _ in loop.stop() }
            // Without a thread, the stream ends and its consumer falls back to polling.
            do throws(OSThreadError) {
                try OSThread.start(name: "listener") { loop.run { loop.yield($0, to: continuation) } }
            } catch {
                continuation.finish()
            }
        }
    }
}

/// Listens on its own thread until it is stopped.
final class ListenLoop: Sendable {
    private let configuration: PostgresConfiguration
    private let channels: [String]
    private let wakeup: Wakeup
    private let isStopped = Mutex(false)

    init(_ configuration: PostgresConfiguration, _ channels: [String]) throws(PostgresError) {
        self.configuration = configuration
        self.channels = channels
        wakeup = try Wakeup()
    }

    func stop() {
        isStopped.withLock { $0 = true }
        wakeup.signal()
    }

    /// Yields a notice. If the buffer overflows, the oldest notice is dropped and a gap follows, even at the end.
    func yield(_ notice: PostgresNotice, to continuation: AsyncStream<PostgresNotice>.Continuation) {
        if case .dropped = continuation.yield(notice), notice != .gap { continuation.yield(.gap) }
    }

    func run(_ emit: (PostgresNotice) -> Void) {
        var pauses = RetryPauses(doublings: 4)
        while !isStopped.withLock({ $0 }) {
            if let handle = try? ConnectionHandle.connect(configuration), listen(handle) {
                pauses.succeed()
                emit(.gap)
                readNotifications(handle, emit)
                if !isStopped.withLock({ $0 }) { emit(.lost) }
            }
            pause(pauses.fail())
        }
    }

    private func listen(_ handle: ConnectionHandle) -> Bool {
        channels.allSatisfy { channel in
            let listen: SQL = "LISTEN \(identifier: channel)"
            guard let result = PQexec(handle.raw, listen.text) else { return false }
            defer { PQclear(result) }
            return PQresultStatus(result) == PGRES_COMMAND_OK
        }
    }

    private func readNotifications(_ handle: ConnectionHandle, _ emit: (PostgresNotice) -> Void) {
        while !isStopped.withLock({ $0 }) {
            let wanted = [(handle.socket, Int16(POLLIN)), (wakeup.descriptor, Int16(POLLIN))]
            _ = pollDescriptors(wanted.map { (descriptor: $0.0, events: $0.1) }, until: nil)
            guard PQconsumeInput(handle.raw) == 1 else { return }
            while let notification = PQnotifies(handle.raw) {
                emit(
                    .notification(
                        channel: String(cString: notification.pointee.relname),
                        payload: String(cString: notification.pointee.extra)
                    )
                )
                PQfreemem(notification)
            }
        }
    }

    private func pause(_ duration: Duration) {
        guard !isStopped.withLock({ $0 }) else { return }
        _ = pollDescriptors([(wakeup.descriptor, Int16(POLLIN))], until: .now + duration)
    }
}
