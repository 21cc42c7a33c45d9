internal import Catalog
internal import CatalogPostgres
internal import LibPQ

/// The chunks of a file or of standard input.
struct FileChunks: AsyncSequence, Sendable {
    /// The number of bytes read so far.
    final class Progress: @unchecked Sendable { var read = 0 }

    private let file: InputFile
    let progress = Progress()

    init(path: String) throws { file = try InputFile(path) }

    /// The size in bytes; nil for standard input.
    var size: Int? { file.size }

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: InputFile
        let progress: Progress
        mutating func next() async throws -> [UInt8]? {
            let bytes = try file.read(upTo: 1 << 18)
            guard !bytes.isEmpty else { return nil }
            progress.read += bytes.count
            return bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file, progress: progress) }
}
