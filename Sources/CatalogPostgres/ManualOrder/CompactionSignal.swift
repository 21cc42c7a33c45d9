/// Signals to the background task that keys need compaction; signals are coalesced.
package final class CompactionSignal: Sendable {
    /// One element for any number of signals since the last one.
    package let signals: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (signals, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func send() { continuation.yield() }
}
