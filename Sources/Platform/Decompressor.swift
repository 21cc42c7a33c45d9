/// A streaming reader of files that may be compressed: gzip and zip archives of one file are recognized by their content,
/// and everything else is passed on as it is. Memory use does not depend on the size of the file.
package struct Decompressor {
    /// The reason why a compressed file cannot be read.
    package struct Fault: Error, Equatable {
        package let reason: String
    }

    private enum State {
        /// The first bytes are awaited.
        case start
        case plain
        case gzip(Inflater)
        /// A complete gzip stream; another one, or zeros, may follow.
        case gzipEnd(Inflater)
        case zip(ZipReader)
    }

    private var state = State.start
    private var pending: [UInt8] = []
    private var (read, written) = (0, 0)
    private let mustBeGzip: Bool

    /// The maximum ratio of the content to the compressed file, of a content above 64 MiB.
    private static let ratioLimit = 250
    private static let unlimitedSize = 64 << 20

    /// - Parameter mustBeGzip: whether other files are faults.
    package init(mustBeGzip: Bool = false) { self.mustBeGzip = mustBeGzip }

    /// Whether the file is known not to be compressed.
    package var isPlain: Bool { if case .plain = state { true } else { false } }

    /// The name of the file in a zip archive; nil for other files, and before it was read.
    package var fileName: String? { if case .zip(let reader) = state { reader.names.first } else { nil } }

    /// Reads a piece of the file and passes on its content, up to 64 KiB of a compressed file at a time.
    ///
    /// - Throws: `Fault` for a damaged file, or one whose content is more than 250 times its size.
    package mutating func read(_ piece: [UInt8], _ emit: (ArraySlice<UInt8>) throws -> Void) throws {
        read += piece.count
        guard case .start = state else { return try advance(piece[...], emit) }
        pending += piece
        guard pending.count >= 4 else { return }
        try begin(emit)
    }

    /// Ends the file.
    ///
    /// - Throws: `Fault` for a truncated file.
    package mutating func end(_ emit: (ArraySlice<UInt8>) throws -> Void) throws {
        if case .start = state { try begin(emit) }
        switch state {
        case .start, .plain, .gzipEnd: break
        case .gzip: throw Self.truncated
        case .zip(let reader): try reader.end()
        }
    }

    private static let truncated = Fault(reason: "the compressed file is truncated; transfer it again")
    private static let damaged = Fault(reason: "the compressed file is damaged; transfer it again")
    private static let exhausted = Fault(reason: "memory is exhausted")

    private mutating func begin(_ emit: (ArraySlice<UInt8>) throws -> Void) throws {
        if pending.starts(with: [0x1F, 0x8B]) {
            guard let inflater = Inflater(isGzip: true) else { throw Self.exhausted }
            state = .gzip(inflater)
        } else if mustBeGzip {
            throw Fault(reason: "the body is not in the gzip format")
        } else if pending.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            state = .zip(ZipReader())
        } else {
            state = .plain
        }
        let first = pending
        pending = []
        try advance(first[...], emit)
    }

    private mutating func advance(_ piece: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) throws {
        switch state {
        case .start: break
        case .plain: if !piece.isEmpty { try emit(piece) }
        case .gzip(let inflater):
            let step = try inflater.read(piece) { content in
                try count(content)
                try emit(content)
            }
            guard step != .damaged else { throw Self.damaged }
            guard case .ended(let consumed) = step else { return }
            state = .gzipEnd(inflater)
            try advance(piece.dropFirst(consumed), emit)
        case .gzipEnd(let inflater):
            let rest = piece.drop { $0 == 0 }
            guard !rest.isEmpty else { return }
            inflater.reset()
            state = .gzip(inflater)
            try advance(rest, emit)
        case .zip(let reader):
            try reader.read(piece) { content in
                try count(content)
                try emit(content)
            }
        }
    }

    private mutating func count(_ content: ArraySlice<UInt8>) throws {
        written += content.count
        guard written <= max(Self.unlimitedSize, read * Self.ratioLimit) else {
            throw Fault(
                reason:
                    "the content is more than \(Self.ratioLimit) times the size of the compressed file; decompress it first"
            )
        }
    }
}

/// A streaming reader of a zip archive with one file. Directories and the additions of macOS are skipped.
///
/// Source: PKWARE, APPNOTE.TXT, 4.3.
private final class ZipReader {
    private enum State {
        case signature
        /// The fixed part of a local file header.
        case header
        /// The name and the extra field.
        case name(Header)
        case data(Entry)
        case descriptor
        /// The central directory, of which only the end is looked for.
        case directory
        /// The record at the end, of which some bytes are read.
        case end(count: Int)
    }

    private struct Header {
        let flags: Int
        let method: Int
        let checksum: UInt32
        /// The size of the compressed data; meaningless if a descriptor follows the data.
        let size: UInt32
        let nameLength: Int
        let extraLength: Int

        var hasDescriptor: Bool { flags & 8 != 0 }
    }

    private struct Entry {
        let header: Header
        /// Whether its data is passed on.
        let isContent: Bool
        /// The number of bytes of stored data that are left.
        var remaining: Int
    }

    private var state = State.signature
    private var buffer: [UInt8] = []
    private var inflater: Inflater?
    private var checksum: UInt32 = 0
    private(set) var names: [String] = []

    private static let nameLimit = 10

    func read(_ piece: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) throws {
        if case .data(let entry) = state, buffer.isEmpty, entry.header.method == 8 {
            return try process(piece, emit)
        }
        let all = buffer + piece
        buffer = []
        try process(all[...], emit)
    }

    func end() throws {
        guard case .end(let count) = state, count >= 22 else {
            throw Decompressor.Fault(reason: "the zip archive is truncated; transfer it again")
        }
        guard !names.isEmpty else { throw Decompressor.Fault(reason: "the zip archive has no file") }
        guard names.count == 1 else { throw severalFiles }
    }

    private func process(_ bytes: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) throws {
        var rest = bytes
        while !rest.isEmpty {
            guard let next = try step(rest, emit) else {
                buffer = Array(rest)
                return
            }
            rest = next
        }
    }

    /// Reads what is complete; returns the bytes after it, or nil if more are needed.
    private func step(_ bytes: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) throws -> ArraySlice<
        UInt8
    >? {
        func number(_ offset: Int, _ length: Int) -> UInt32 {
            bytes[(bytes.startIndex + offset)...].prefix(length).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        switch state {
        case .signature:
            guard bytes.count >= 4 else { return nil }
            switch number(0, 4) {
            case 0x0403_4B50: state = .header
            case 0x0201_4B50, 0x0605_4B50, 0x0606_4B50, 0x0807_4B50, 0x0806_4B50: state = .directory
            default: throw damaged
            }
            return bytes
        case .header:
            guard bytes.count >= 30 else { return nil }
            state = .name(
                Header(
                    flags: Int(number(6, 2)),
                    method: Int(number(8, 2)),
                    checksum: number(14, 4),
                    size: number(18, 4),
                    nameLength: Int(number(26, 2)),
                    extraLength: Int(number(28, 2))
                )
            )
            return bytes.dropFirst(30)
        case .name(let header):
            guard bytes.count >= header.nameLength + header.extraLength else { return nil }
            let entry = try begin(header, String(decoding: bytes.prefix(header.nameLength), as: UTF8.self))
            state = .data(entry)
            let data = bytes.dropFirst(header.nameLength + header.extraLength)
            return header.method == 0 && entry.remaining == 0 ? try finish(header, data) : data
        case .data(let entry):
            return entry.header.method == 0 ? try copy(entry, bytes, emit) : try inflate(entry, bytes, emit)
        case .descriptor:
            // A signature that is optional, the checksum, and two sizes of 4 bytes, or of 8 for large files.
            guard bytes.count >= 24 else { return nil }
            let start = number(0, 4) == 0x0807_4B50 ? 4 : 0
            guard number(start, 4) == checksum else { throw damaged }
            state = .signature
            let isShort = number(start + 12, 2) == 0x4B50
            return bytes.dropFirst(start + (isShort ? 12 : 20))
        case .directory:
            for index in bytes.indices where bytes[index...].starts(with: [0x50, 0x4B, 0x05, 0x06]) {
                state = .end(count: 0)
                return bytes[index...]
            }
            return bytes.count > 3 ? bytes.suffix(3) : nil
        case .end(let count):
            state = .end(count: count + bytes.count)
            return bytes.dropFirst(bytes.count)
        }
    }

    private func begin(_ header: Header, _ name: String) throws -> Entry {
        guard header.flags & 1 == 0 else {
            throw Decompressor.Fault(reason: "the zip archive is encrypted; extract it")
        }
        guard header.method == 8 || header.method == 0 && !header.hasDescriptor && header.size != .max else {
            throw Decompressor.Fault(
                reason: "the zip archive uses a method that is not supported; use deflate, or gzip"
            )
        }
        let last = name.split(separator: "/").last ?? ""
        let isFile = !name.hasSuffix("/") && !name.hasPrefix("__MACOSX/") && last != ".DS_Store"
        if isFile {
            names.append(String(name.prefix(100)))
            guard names.count <= Self.nameLimit else { throw severalFiles }
        }
        checksum = 0
        if header.method == 8 {
            guard let inflater = Inflater(isGzip: false) else {
                throw Decompressor.Fault(reason: "memory is exhausted")
            }
            self.inflater = inflater
        }
        // The names of all files are reported at the end, so the data of others is read, but not passed on.
        return Entry(header: header, isContent: isFile && names.count == 1, remaining: Int(header.size))
    }

    private func copy(_ entry: Entry, _ bytes: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) throws
        -> ArraySlice<UInt8>
    {
        var entry = entry
        let content = bytes.prefix(entry.remaining)
        checksum = Inflater.checksum(content, after: checksum)
        if entry.isContent { try emit(content) }
        entry.remaining -= content.count
        state = .data(entry)
        let rest = bytes.dropFirst(content.count)
        return entry.remaining == 0 ? try finish(entry.header, rest) : rest
    }

    private func inflate(_ entry: Entry, _ bytes: ArraySlice<UInt8>, _ emit: (ArraySlice<UInt8>) throws -> Void) throws
        -> ArraySlice<UInt8>
    {
        let step = try inflater!.read(bytes) { content in
            checksum = Inflater.checksum(content, after: checksum)
            if entry.isContent { try emit(content) }
        }
        switch step {
        case .needsInput: return bytes.dropFirst(bytes.count)
        case .damaged: throw damaged
        case .ended(let consumed): return try finish(entry.header, bytes.dropFirst(consumed))
        }
    }

    private func finish(_ header: Header, _ rest: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        inflater = nil
        guard !header.hasDescriptor else {
            state = .descriptor
            return rest
        }
        guard checksum == header.checksum else { throw damaged }
        state = .signature
        return rest
    }

    private var severalFiles: Decompressor.Fault {
        let list = names.prefix(Self.nameLimit).joined(separator: ", ")
        return Decompressor.Fault(reason: "the zip archive has several files (\(list)); extract the one to import")
    }

    private var damaged: Decompressor.Fault {
        Decompressor.Fault(reason: "the zip archive is damaged; transfer it again")
    }
}
