/// Bytes in memory as a sequence of one chunk.
struct SingleChunk: AsyncSequence, Sendable {
    let bytes: [UInt8]
    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: [UInt8]?
        mutating func next() async -> [UInt8]? { bytes.take() }
    }
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}
