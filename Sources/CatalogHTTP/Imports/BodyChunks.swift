internal import Catalog
internal import Crypto
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// The chunks of a streamed body, hashed as they arrive.
///
/// Reading fails with a client error if the body is incomplete or arrives more slowly than the minimum rate.
/// Only time spent waiting for the client counts.
struct BodyChunks: AsyncSequence, Sendable {
    private let source: Source
    private let pace: ImportPace
    private let hash = Hash()
    private let heldBody: HeldBody?
    private let deadline: RequestDeadline?

    /// Holds the body's single iterator until it is taken. The server keeps reading a body while an iterator exists;
    /// releasing it stops reading an unwanted body.
    private final class Source: @unchecked Sendable {
        private let lock = Mutex(())
        private var iterator: RequestBody.AsyncIterator?

        init(_ iterator: RequestBody.AsyncIterator) { self.iterator = iterator }

        func take() -> RequestBody.AsyncIterator? { lock.withLock { _ in iterator.take() } }
    }

    fileprivate final class Hash: Sendable {
        let state = Mutex(SHA256())
    }

    /// - Parameter call: the request, with a deadline.
    init(_ body: RequestBody, of call: Call, pace: ImportPace) {
        source = Source(body.makeAsyncIterator())
        (heldBody, deadline) = (call.heldBody, call.deadline)
        self.pace = pace
    }

    /// Releases the body if reading has not started.
    func discard() { _ = source.take() }

    /// The hash of the received bytes.
    var digest: [UInt8] { hash.state.withLock { Array($0.finalize()) } }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var chunks: RequestBody.AsyncIterator?
        fileprivate let hash: Hash
        private let pace: ImportPace
        private let deadline: RequestDeadline?
        private var waited: Duration = .zero
        private var received = 0

        fileprivate init(
            _ chunks: RequestBody.AsyncIterator?,
            _ hash: Hash,
            _ pace: ImportPace,
            _ deadline: RequestDeadline?
        ) {
            self.chunks = chunks
            self.hash = hash
            self.pace = pace
            self.deadline = deadline
        }

        mutating func next() async throws -> [UInt8]? {
            let start = ContinuousClock.now
            let chunk: ByteBuffer?
            do {
                if let deadline {
                    chunk = try await deadline.withLimit(
                        pace.gracePeriod,
                        or: BodyLoader.timedOut,
                        countsTowardsRequest: true
                    ) { try await chunks?.next() }
                } else {
                    chunk = try await chunks?.next()
                }
            } catch let problem as Problem { throw problem } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw BodyLoader.incomplete
            }
            guard let chunk else { return nil }
            received += chunk.readableBytes
            waited += .now - start
            guard waited < pace.gracePeriod || Double(received) >= waited / .seconds(1) * Double(pace.minimumRate)
            else {
                throw deadline?.fail(with: BodyLoader.timedOut) ?? BodyLoader.timedOut
            }
            hash.state.withLock { hash in chunk.readableBytesView.withUnsafeBytes { hash.update(bufferPointer: $0) } }
            return Array(buffer: chunk)
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        heldBody?.ask()
        return AsyncIterator(source.take(), hash, pace, deadline)
    }
}
