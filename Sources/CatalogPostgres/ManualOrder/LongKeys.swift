/// Tells the background that a key became long, without a message for each.
package final class LongKeys: Sendable {
    /// One element for any number of notes since the last.
    package let notes: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (notes, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func note() { continuation.yield() }
}
