internal import JSON
package import Catalog

/// A streaming reader of comma-separated values (RFC 4180): bytes in, records out, in bounded memory.
///
/// Reads UTF-8 with quoted fields, line breaks in them and doubled quotes; lines end with LF, CRLF or CR. No library
/// reads CSV as a stream with the line of each record, which rejections must report.
package struct CSVReader {
    /// A record: its unquoted fields and the line on which it starts, from 1.
    package struct Record {
        package let line: Int
        fileprivate let bytes: [UInt8]
        fileprivate let ends: [Int]
        package let separator: FieldSeparator
        fileprivate let isQuoted: Bool

        package var count: Int { ends.count }

        /// The bytes of a field.
        package func bytes(_ index: Int) -> ArraySlice<UInt8> {
            bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
        }

        /// The record as CSV, with the separator of the file; invalid UTF-8 is replaced.
        package var csv: String { csv(filling: [:]) }

        /// The record as CSV, with texts in some of its blank fields.
        func csv(filling texts: [Int: String], replacing replaced: Int? = nil) -> String {
            (0..<max(count, (texts.keys.max() ?? -1) + 1)).map { index in
                let own = index < count ? String(decoding: bytes(index), as: UTF8.self) : ""
                let text = own.trimmed.isEmpty || index == replaced ? texts[index] ?? own : own
                return isQuoted ? CSVReader.field(text, separator) : text
            }
            .joined(separator: String(Unicode.Scalar(separator.byte)))
        }

        /// Whether all fields from an index on are empty, as those of empty rows of a spreadsheet are.
        package func isBlank(from index: Int = 0) -> Bool {
            let start = index == 0 ? 0 : ends[min(index, count) - 1]
            return bytes[start...].allSatisfy { $0 == 0x20 || $0 == 0x09 }
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

    private let separator: FieldSeparator
    private let isQuoted: Bool
    private let hasLists: Bool
    private var state = State.fieldStart
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var line: Int
    private var recordLine: Int
    private var isTooLong = false

    /// - Parameters:
    ///   - line: the number of the first line.
    ///   - isQuoted: whether quotes around a field are not part of it.
    ///   - hasLists: whether a field may be a list with quotes around values, such as `"a","b"` between tabs.
    package init(
        _ separator: FieldSeparator = .comma,
        line: Int = 1,
        isQuoted: Bool = true,
        hasLists: Bool = false
    ) {
        self.hasLists = hasLists && separator != .comma
        self.separator = separator
        self.isQuoted = isQuoted
        self.line = line
        recordLine = line
    }

    /// Returns a field as CSV, quoted if necessary.
    package static func field(_ value: String, _ separator: FieldSeparator = .comma) -> String {
        value.utf8.contains { [0x22, separator.byte, 0x0D, 0x0A].contains($0) }
            ? "\"\(value.replacing("\"", with: "\"\""))\"" : value
    }

    /// Returns a field of a file without quotes: separators and line breaks become spaces.
    package static func unquotedField(_ value: String, _ separator: FieldSeparator) -> String {
        String(decoding: value.utf8.map { [separator.byte, 0x0D, 0x0A].contains($0) ? 0x20 : $0 }, as: UTF8.self)
    }

    /// Reads the next chunk of the file.
    package mutating func read(_ chunk: UnsafeRawBufferPointer, _ emit: (Event) throws -> Void) rethrows {
        let separator = separator.byte
        for byte in chunk {
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
                } else if byte == UInt8(ascii: "\""), state == .fieldStart, isQuoted {
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
                    if byte == UInt8(ascii: ","), hasLists { restoreQuotes() }
                    append(byte)
                    state = .unquoted
                }
            }
        }
    }

    /// Ends the file; a last line without a line break is a record, too.
    package mutating func end(_ emit: (Event) throws -> Void) rethrows {
        if state == .quoted {
            bytes.removeAll()
            ends.removeAll()
            return try emit(.malformed(line: recordLine, reason: "unterminated quoted field"))
        }
        if !bytes.isEmpty || !ends.isEmpty || state == .quoteInQuoted { try endRecord(emit) }
    }

    private mutating func append(_ byte: UInt8) {
        if bytes.count < Self.recordLimit { bytes.append(byte) } else { isTooLong = true }
    }

    /// Puts the quotes back around the field so far: a comma after it shows that it is the first value of a list.
    private mutating func restoreQuotes() {
        // The fields above the limit are one.
        guard ends.count < Self.fieldLimit, !isTooLong else { return }
        let quote = UInt8(ascii: "\"")
        let start = ends.last ?? 0
        let value = bytes[start...].flatMap { $0 == quote ? [quote, quote] : [$0] }
        bytes.removeSubrange(start...)
        for byte in [quote] + value + [quote] { append(byte) }
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
        try emit(.record(Record(line: recordLine, bytes: bytes, ends: ends, separator: separator, isQuoted: isQuoted)))
    }
}
