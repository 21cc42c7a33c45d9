internal import Catalog
internal import Synchronization

/// The subscribers waiting for changes. Repeated wake-ups of a subscriber are coalesced.
final class Subscribers: Sendable {
    private struct State {
        var waiting: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var idleSince: ContinuousClock.Instant? = .now
    }

    private let state = Mutex(State())

    func add() -> (number: Int, wakes: AsyncStream<Void>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            state.idleSince = nil
            state.next += 1
            state.waiting[state.next] = continuation
            return (state.next, stream)
        }
    }

    func remove(_ number: Int) {
        state.withLock { state in
            state.waiting.removeValue(forKey: number)?.finish()
            if state.waiting.isEmpty { state.idleSince = .now }
        }
    }

    /// When the last subscriber left; nil while there are subscribers.
    var idleSince: ContinuousClock.Instant? { state.withLock { $0.idleSince } }

    func wake() { state.withLock { for continuation in $0.waiting.values { continuation.yield() } } }

    /// Wakes one group of subscribers, so that not all write at once.
    func wake(turn: Int, of turns: Int) {
        state.withLock { state in
            for (number, continuation) in state.waiting where number % turns == turn % turns { continuation.yield() }
        }
    }

    /// Ends the streams of all subscribers.
    func end() {
        state.withLock { state in
            for continuation in state.waiting.values { continuation.finish() }
            state.waiting = [:]
        }
    }
}
