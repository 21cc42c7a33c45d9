internal import Synchronization

/// A pending cancel request.
final class CancelRequest: Sendable {
    private let hasEndedFlag = Atomic(false)

    /// Whether the server has received the request or is unreachable; it cannot affect later statements.
    var hasEnded: Bool { hasEndedFlag.load(ordering: .acquiring) }

    func end() { hasEndedFlag.store(true, ordering: .releasing) }
}
