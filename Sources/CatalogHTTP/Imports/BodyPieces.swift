internal import Catalog
internal import Crypto
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// The pieces of a streamed body, hashed as they come.
///
/// A body that breaks off, or that arrives more slowly than the pace, is the client's error and ends the reading.
/// Only the time that is spent waiting for the client counts.
struct BodyPieces: AsyncSequence, Sendable {
    private let source: Source
    private let pace: ImportPace
    private let hash = Hash()

    /// The one iterator of the body, until it is taken. The server goes on reading a body only while somebody may still
    /// ask for it: to let it go ends a body that nobody wants.
    private final class Source: @unchecked Sendable {
        private let lock = Mutex(())
        private var iterator: RequestBody.AsyncIterator?

        init(_ iterator: RequestBody.AsyncIterator) { self.iterator = iterator }

        func take() -> RequestBody.AsyncIterator? { lock.withLock { _ in iterator.take() } }
    }

    fileprivate final class Hash: Sendable {
        let state = Mutex(SHA256())
    }

    init(_ body: RequestBody, pace: ImportPace) {
        source = Source(body.makeAsyncIterator())
        self.pace = pace
    }

    /// Lets the body go, where nobody has begun to read it.
    func discard() { _ = source.take() }

    /// The hash of what has come.
    var digest: [UInt8] { hash.state.withLock { Array($0.finalize()) } }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: RequestBody.AsyncIterator?
        fileprivate let hash: Hash
        private let pace: ImportPace
        private var waited: Duration = .zero
        private var received = 0

        fileprivate init(_ pieces: RequestBody.AsyncIterator?, _ hash: Hash, _ pace: ImportPace) {
            self.pieces = pieces
            self.hash = hash
            self.pace = pace
        }

        mutating func next() async throws -> [UInt8]? {
            let start = ContinuousClock.now
            let piece: ByteBuffer?
            do {
                piece = try await RequestDeadline.allow(
                    pace.patience,
                    or: BodyLoader.late,
                    countsTowardsRest: true
                ) { try await pieces?.next() }
            } catch let problem as Problem { throw problem } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw BodyLoader.broken
            }
            guard let piece else { return nil }
            received += piece.readableBytes
            waited += .now - start
            guard waited < pace.patience || Double(received) >= waited / .seconds(1) * Double(pace.leastRate) else {
                throw RequestDeadline.end(with: BodyLoader.late)
            }
            hash.state.withLock { hash in piece.readableBytesView.withUnsafeBytes { hash.update(bufferPointer: $0) } }
            return Array(buffer: piece)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source.take(), hash, pace) }
}
