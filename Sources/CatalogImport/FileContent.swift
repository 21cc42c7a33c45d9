internal import Catalog
internal import Platform

/// The content of a file in chunks: that of a gzip or zip archive of one file, and every other file as it is.
package struct FileContent<Chunks: AsyncSequence & Sendable>: AsyncSequence, Sendable where Chunks.Element == [UInt8] {
    private let chunks: Chunks
    private let mustBeGzip: Bool

    /// - Parameter mustBeGzip: whether other files are errors.
    package init(_ chunks: Chunks, mustBeGzip: Bool = false) {
        self.chunks = chunks
        self.mustBeGzip = mustBeGzip
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var chunks: Chunks.AsyncIterator
        fileprivate var decompressor: Decompressor
        /// Content that was not returned yet, in reverse order; a chunk of 256 KiB may hold much more.
        fileprivate var waiting: [[UInt8]] = []
        /// Compressed bytes that were not read yet.
        fileprivate var compressed: ArraySlice<UInt8> = []
        fileprivate var hasEnded = false

        /// The number of compressed bytes that are read at once, which limits the memory for their content.
        private static var step: Int { 4096 }

        /// - Throws: `CatalogError.unprocessable` for a damaged archive.
        package mutating func next() async throws -> [UInt8]? {
            while waiting.isEmpty {
                if compressed.isEmpty {
                    guard !hasEnded else { return nil }
                    guard let chunk = try await chunks.next() else {
                        hasEnded = true
                        try read { decompressor, emit throws in try decompressor.end(emit) }
                        continue
                    }
                    compressed = chunk[...]
                }
                let step = decompressor.isPlain ? compressed : compressed.prefix(Self.step)
                compressed = compressed.dropFirst(step.count)
                try read { decompressor, emit throws in try decompressor.read(Array(step), emit) }
            }
            return waiting.popLast()
        }

        private mutating func read(
            _ body: (inout Decompressor, (ArraySlice<UInt8>) throws -> Void) throws -> Void
        ) throws {
            var content: [[UInt8]] = []
            do { try body(&decompressor) { content.append(Array($0)) } } catch let fault as Decompressor.Fault {
                throw CatalogError.unprocessable(field: "file", detail: "\(fault.reason); nothing was imported")
            }
            waiting = content.reversed()
        }
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: chunks.makeAsyncIterator(), decompressor: Decompressor(mustBeGzip: mustBeGzip))
    }
}
