internal import Catalog
internal import Crypto
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// The pieces of a streamed body, hashed as they come.
///
/// A body that breaks off, or that comes slower than anybody sends a file, is the client's error and ends the reading.
struct BodyPieces: AsyncSequence, Sendable {
    /// After so long a body must have come at the least rate.
    private static let patience: Duration = .seconds(30)
    /// In bytes a second.
    private static let leastRate = 1024

    private let body: RequestBody
    private let hash = Hash()

    fileprivate final class Hash: Sendable {
        let state = Mutex(SHA256())
    }

    init(_ body: RequestBody) { self.body = body }

    /// The hash of what has come.
    var digest: [UInt8] { hash.state.withLock { Array($0.finalize()) } }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pieces: RequestBody.AsyncIterator
        fileprivate let hash: Hash
        private let start = ContinuousClock.now
        private var received = 0

        fileprivate init(_ pieces: RequestBody.AsyncIterator, _ hash: Hash) {
            self.pieces = pieces
            self.hash = hash
        }

        mutating func next() async throws -> [UInt8]? {
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch is CancellationError { throw CancellationError() } catch {
                throw CatalogAPI.brokenBody
            }
            guard let piece else { return nil }
            received += piece.readableBytes
            let spent = ContinuousClock.now - start
            guard spent < BodyPieces.patience || received / BodyPieces.leastRate >= Int(spent.components.seconds) else {
                throw CatalogError.malformed(parameter: nil, detail: "the body comes too slowly")
            }
            hash.state.withLock { hash in piece.readableBytesView.withUnsafeBytes { hash.update(bufferPointer: $0) } }
            return Array(buffer: piece)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body.makeAsyncIterator(), hash) }
}
