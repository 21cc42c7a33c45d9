internal import Catalog

/// A streaming reader of comma-separated values (RFC 4180): bytes in, records out, in bounded memory.
///
/// Reads quoted fields with line breaks and doubled quotes, LF and CRLF, and a byte order mark. The separator is a
/// comma, unless the header line has more semicolons or tabs. No library reads CSV as a stream with the line of
/// each record, which rejections must report.
package struct CSVReader {
    /// A record: its unquoted fields and the line on which it starts, from 1.
    package struct Record {
        package let line: Int
        fileprivate let bytes: [UInt8]
        fileprivate let ends: [Int]

        package var count: Int { ends.count }

        /// The bytes of a field.
        package func bytes(_ index: Int) -> ArraySlice<UInt8> {
            bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
        }

        /// The record as CSV; invalid UTF-8 is replaced.
        package var csv: String {
            (0..<count).map { CSVReader.field(String(decoding: bytes($0), as: UTF8.self)) }.joined(separator: ",")
        }

        /// A field as text; nil if it is not valid UTF-8, or has more than 30 combining marks in a row.
        package func text(_ index: Int) -> String? {
            let slice = bytes(index)
            return slice.withUnsafeBufferPointer { bytes in
                // ASCII needs no validation, which would cost more than everything else.
                if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
                return String(validating: bytes, as: UTF8.self).flatMap { $0.isStreamSafe ? $0 : nil }
            }
        }
    }

    /// A record, or the reason why one could not be read.
    package enum Event {
        case record(Record)
        /// An unterminated quote, or a record above the limit; reading continues after it.
        case malformed(line: Int, reason: String)
    }

    /// The maximum size of a record, in bytes.
    package static let recordLimit = 1 << 20
    /// The maximum number of fields per record.
    package static let fieldLimit = 1024

    private enum State {
        case fieldStart, unquoted, quoted, quoteInQuoted, afterCR
    }

    private var separator: UInt8?
    private var state = State.fieldStart
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var line = 1
    private var recordLine = 1
    private var isTooLong = false
    private var pendingHeader: [UInt8] = []
    /// Whether the file is UTF-16, of which nothing is read.
    private var isUTF16 = false

    package init() {}

    /// Returns a field as CSV, quoted if necessary.
    package static func field(_ value: String) -> String {
        value.utf8.contains { [0x22, 0x2C, 0x0D, 0x0A].contains($0) }
            ? "\"\(value.replacing("\"", with: "\"\""))\"" : value
    }

    /// Reads the next chunk of the file.
    package mutating func read(_ piece: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) rethrows {
        if isUTF16 { return }
        if separator != nil { return try consume(piece, emit) }
        // Buffer until the header line is complete, because it determines the separator.
        pendingHeader.append(contentsOf: piece)
        guard pendingHeader.count >= Self.recordLimit || piece.contains(0x0A) else { return }
        try begin(emit)
    }

    /// Ends the file; a last line without a line break is a record, too.
    package mutating func end(_ emit: (Event) throws -> Void) rethrows {
        if separator == nil, !isUTF16 { try begin(emit) }
        if state == .quoted {
            bytes.removeAll()
            ends.removeAll()
            return try emit(.malformed(line: recordLine, reason: "unterminated quoted field"))
        }
        if !bytes.isEmpty || !ends.isEmpty || state == .quoteInQuoted { try endRecord(emit) }
    }

    private mutating func begin(_ emit: (Event) throws -> Void) rethrows {
        if pendingHeader.starts(with: [0xEF, 0xBB, 0xBF]) { pendingHeader.removeFirst(3) }
        if pendingHeader.starts(with: [0xFF, 0xFE]) || pendingHeader.starts(with: [0xFE, 0xFF]) {
            (isUTF16, pendingHeader) = (true, [])
            return try emit(.malformed(line: 1, reason: "the file is UTF-16; save it as UTF-8"))
        }
        let first = pendingHeader.prefix { $0 != 0x0A }
        let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].map { mark in (mark, first.count { $0 == mark }) }
        var best = candidates[0]
        for candidate in candidates where candidate.1 > best.1 { best = candidate }
        separator = best.0
        let pending = pendingHeader
        pendingHeader = []
        try pending.withUnsafeBytes { try consume($0, emit) }
    }

    private mutating func consume(_ piece: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) rethrows {
        let separator = separator!
        for byte in piece {
            if byte == 0x0A { line += 1 }
            switch state {
            case .afterCR where byte == 0x0A:
                state = .fieldStart
                recordLine = line
            case .afterCR, .fieldStart, .unquoted:
                if state == .afterCR {
                    state = .fieldStart
                    line += 1
                    recordLine = line
                }
                if byte == separator {
                    endField()
                    state = .fieldStart
                } else if byte == 0x0A || byte == 0x0D {
                    try endRecord(emit)
                    state = byte == 0x0D ? .afterCR : .fieldStart
                } else if byte == UInt8(ascii: "\""), state == .fieldStart {
                    state = .quoted
                } else {
                    append(byte)
                    state = .unquoted
                }
            case .quoted:
                if byte == UInt8(ascii: "\"") { state = .quoteInQuoted } else { append(byte) }
            case .quoteInQuoted:
                if byte == UInt8(ascii: "\"") {
                    append(byte)
                    state = .quoted
                } else if byte == separator {
                    endField()
                    state = .fieldStart
                } else if byte == 0x0A || byte == 0x0D {
                    try endRecord(emit)
                    state = byte == 0x0D ? .afterCR : .fieldStart
                } else {
                    // Keep text after a closing quote, as spreadsheets do.
                    append(byte)
                    state = .unquoted
                }
            }
        }
    }

    private mutating func append(_ byte: UInt8) {
        if bytes.count < Self.recordLimit { bytes.append(byte) } else { isTooLong = true }
    }

    private mutating func endField() {
        if ends.count < Self.fieldLimit { ends.append(bytes.count) } else { isTooLong = true }
    }

    private mutating func endRecord(_ emit: (Event) throws -> Void) rethrows {
        defer {
            bytes.removeAll(keepingCapacity: true)
            ends.removeAll(keepingCapacity: true)
            isTooLong = false
            recordLine = line
        }
        // Skip empty lines.
        if bytes.isEmpty, ends.isEmpty, state != .quoteInQuoted { return }
        ends.append(bytes.count)
        if isTooLong {
            return try emit(
                .malformed(
                    line: recordLine,
                    reason: "the record exceeds \(Self.recordLimit) bytes or \(Self.fieldLimit) columns"
                )
            )
        }
        try emit(.record(Record(line: recordLine, bytes: bytes, ends: ends)))
    }
}
