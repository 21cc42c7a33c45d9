internal import Catalog
internal import Glibc
internal import Platform

/// A file that a command reads, or standard input.
final class InputFile: Sendable {
    /// The size in bytes; nil for standard input.
    let size: Int?
    private let path: String
    private let descriptor: Int32

    /// - Parameter path: `-` for standard input.
    /// - Throws: `CommandFailure`, naming the file and the reason.
    init(_ path: String) throws {
        self.path = path
        if path == "-" {
            descriptor = STDIN_FILENO
            size = nil
            return
        }
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let failure = Self.failure(path)
            close(descriptor)
            throw failure
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw CommandFailure("\(path) is a directory, not a file", CommandFailure.noInput)
        }
        size = Int(status.st_size)
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Reads up to `count` bytes; returns none at the end.
    func read(upTo count: Int) throws -> [UInt8] {
        while true {
            var failure: Int32 = 0
            var length = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                length = Glibc.read(descriptor, buffer.baseAddress, count)
                failure = errno
                initialized = max(0, length)
            }
            if length >= 0 { return bytes }
            guard failure == EINTR else {
                errno = failure
                throw Self.failure(path)
            }
        }
    }

    /// Reads all remaining bytes.
    func readToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try read(upTo: 1 << 18)
            if piece.isEmpty { return bytes }
            bytes += piece
        }
    }

    /// Reads the whole content of a file that must not be long.
    ///
    /// - Parameters:
    ///   - document: what the file has, as a noun phrase.
    ///   - limit: the maximum length, in bytes.
    static func contents(_ path: String, of document: String, upTo limit: Int) throws -> [UInt8] {
        let file = try InputFile(path)
        var text: [UInt8] = []
        while true {
            let bytes = try file.read(upTo: 1 << 16)
            guard !bytes.isEmpty else { return text }
            text += bytes
            guard text.count <= limit else {
                throw CommandFailure("\(path): \(document) has at most \(limit) bytes", CommandFailure.badData)
            }
        }
    }

    /// Reads the whole content of a file.
    static func contents(_ path: String) throws -> [UInt8] { try InputFile(path).readToEnd() }

    /// Reads a file of ids, one per line.
    static func ids(_ path: String) throws -> [String] {
        guard let text = String(validating: try contents(path), as: UTF8.self) else {
            throw CommandFailure("\(path) is not valid UTF-8", CommandFailure.badData)
        }
        return text.composed.split(whereSeparator: \.isNewline).map(String.init)
    }

    /// Copies standard input to a file without a name, so that it can be read twice; returns the file's path.
    static func spool() throws -> String {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/aisle-XXXXXX".utf8CString)
        let copy = mkstemp(&name)
        guard copy >= 0 else {
            throw CommandFailure(
                "cannot create a file in \(folder): \(String(cString: strerror(errno)))",
                CommandFailure.cannotCreate
            )
        }
        unlink(name)
        _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
        let input = try InputFile("-")
        while true {
            let piece = try input.read(upTo: 1 << 18)
            if piece.isEmpty { break }
            guard copy.writeAll(piece) else {
                throw CommandFailure(
                    "cannot copy standard input to \(folder): \(String(cString: strerror(errno)))",
                    CommandFailure.cannotCreate
                )
            }
        }
        return "/proc/self/fd/\(copy)"
    }

    private static func failure(_ path: String) -> CommandFailure {
        CommandFailure("cannot read \(path): \(String(cString: strerror(errno)))", CommandFailure.noInput)
    }
}

/// Bytes in memory as a sequence of one chunk.
struct SingleChunk: AsyncSequence, Sendable {
    let bytes: [UInt8]
    struct AsyncIterator: AsyncIteratorProtocol {
        var bytes: [UInt8]?
        mutating func next() async -> [UInt8]? { bytes.take() }
    }
    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}
