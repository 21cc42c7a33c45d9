/// Signals to the background task that keys need compaction; signals are coalesced.
package final class LongKeys: Sendable {
    /// One element for any number of signals since the last one.
    package let notes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (notes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func note() { continuation.yield() }
}
