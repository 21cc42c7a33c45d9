internal import HummingbirdCore
internal import Synchronization

/// Counts the open connections of a server, and stops it from accepting more than a limit.
final class ConnectionCounter: AvailableConnectionsDelegate {
    private let limit: Int
    private let open = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    var count: Int { open.load(ordering: .relaxed) }

    func connectionOpened() { open.add(1, ordering: .relaxed) }
    func connectionClosed() { open.subtract(1, ordering: .relaxed) }
    func isAcceptingNewConnections() -> Bool { count < limit }
}
