internal import JSON
internal import Catalog

/// Splits a file into CSV records, NDJSON lines or records of XML, chunk by chunk, in bounded memory.
///
/// The first megabyte is read at once: it shows how the file is written.
struct RecordSplitter {
    enum Event {
        case csv(CSVReader.Record)
        /// A non-blank line without its line break; a line above the limit is truncated.
        case line(Int, [UInt8])
        /// A record of XML.
        case fields(FieldRecord)
        /// A malformed record; reading continues after it.
        case malformed(line: Int, reason: String)
    }

    /// The number of bytes from which the encoding, the layout and the form of numbers are found.
    static let sampleLimit = 1 << 20

    private let format: ImportOptions.Format
    private let given: FileDialect
    private let isHeader: ([String]) -> Bool
    private let hasLists: Bool
    /// The bytes of the file until there are enough; nil afterwards.
    private var sample: [UInt8]? = []
    private var decoder = TextDecoder(.utf8)
    private var csv = CSVReader()
    private var lineBytes: [UInt8] = []
    private var line = 0
    private var xml: XMLRecordReader?
    /// The encoding of the file.
    private(set) var detected = EncodingDetector.Finding(encoding: .utf8)
    /// The layout of a CSV file; nil for NDJSON, and before it is known.
    private(set) var layout: CSVLayout?

    /// - Parameters:
    ///   - hasLists: whether fields of a CSV file may be lists with quotes around values.
    ///   - isHeader: whether titles have all required columns of a CSV file.
    init(
        _ format: ImportOptions.Format,
        _ given: FileDialect,
        recordNames: [String] = ImportProfile.defaultRecordNames,
        hasLists: Bool = false,
        isHeader: @escaping ([String]) -> Bool
    ) {
        if format == .xml {
            xml = XMLRecordReader(recordNames, given.encoding)
            sample = nil
        }
        self.format = format
        self.given = given
        self.isHeader = isHeader
        self.hasLists = hasLists
    }

    /// Reads a chunk of the file and returns the completed records; those of the sample are together, first.
    ///
    /// - Throws: `CatalogError.unprocessable` if the encoding is not clear.
    mutating func read(_ chunk: UnsafeRawBufferPointer) throws -> [[Event]] {
        guard sample != nil else { return [try consume(chunk)] }
        let start = chunk.prefix(Self.sampleLimit - sample!.count)
        sample!.append(contentsOf: start)
        guard sample!.count == Self.sampleLimit else { return [] }
        return [try begin(isWhole: false), try consume(UnsafeRawBufferPointer(rebasing: chunk[start.endIndex...]))]
    }

    /// Ends the file and returns the last records; a last line without a line break is one, too.
    mutating func end() throws -> [Event] {
        var events = sample == nil ? [] : try begin(isWhole: true)
        if !decoder.isIdentity {
            var text: [UInt8] = []
            decoder.end(into: &text)
            text.withUnsafeBytes { split($0, &events) }
        }
        switch format {
        case .csv:
            let headerLine = layout?.headerLine ?? 1
            csv.end { Self.append($0, from: headerLine, to: &events) }
        case .ndjson: if !lineBytes.isEmpty { endLine(&events) }
        case .xml: try xml!.read(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true, into: &events)
        }
        return events
    }

    /// Returns the given dialect with what the file shows, as far as it is known. Properties of other formats are nil.
    func dialect(_ decimals: DecimalEvidence) -> FileDialect {
        var dialect = given
        if format != .xml { dialect.encoding = detected.encoding }
        dialect.separator = layout?.separator
        dialect.decimalMark = decimals.mark
        dialect.headerLine = layout?.headerLine
        return dialect
    }

    /// A warning about an encoding that was guessed; nil if it is certain.
    var encodingWarning: String? {
        guard detected.isGuess else { return nil }
        let names = ([detected.encoding] + detected.alternatives).map(\.rawValue).joined(separator: " or ")
        return """
            the file is not UTF-8; by its letters it is \(names). If texts are wrong, set the encoding (command line: --encoding)
            """
    }

    /// Why a text cannot be read.
    var textFault: String {
        let others = detected.alternatives.map(\.rawValue)
        guard !others.isEmpty else {
            return detected.encoding == .utf8
                ? """
                is not valid UTF-8, or has more than 30 combining marks in a row; set the file's encoding (command line: --encoding)
                """
                : "is not valid \(detected.encoding.rawValue), or has more than 30 combining marks in a row"
        }
        return """
            has a character that differs between \(([detected.encoding.rawValue] + others).joined(separator: " and ")); \
            set the file's encoding (command line: --encoding)
            """
    }

    // MARK: - The sample

    private mutating func begin(isWhole: Bool) throws -> [Event] {
        let sample = sample.take()!
        guard let found = EncodingDetector.find(sample, isWhole: isWhole, given: given.encoding) else {
            let names = TextEncoding.allCases.filter { $0.upperHalf != nil }.map(\.rawValue)
            throw CatalogError.unprocessable(
                field: "file",
                detail: """
                    the file is not UTF-8, and its text does not show which other encoding it has. Set the encoding \
                    (command line: --encoding), such as \(names.joined(separator: ", "))
                    """
            )
        }
        guard !found.isContradicted else {
            throw CatalogError.unprocessable(
                field: "file",
                detail: """
                    the file is UTF-8, but \(found.encoding.rawValue) is set as its encoding, by an option or the profile. Set utf-8, \
                    or none, so that it is found
                    """
            )
        }
        detected = found
        decoder = TextDecoder(found.encoding, agreeingWith: found.alternatives)
        var text: [UInt8] = []
        sample[found.markLength...].withUnsafeBytes { decoder.decode($0, into: &text) }
        var start = 0
        if format == .csv {
            let layout = CSVLayout.find(text, given, isHeader: isHeader)
            self.layout = layout
            start = layout.preambleLength
            csv = CSVReader(
                layout.separator,
                line: start == 0 ? 1 : 2,
                isQuoted: given.isQuoted,
                hasLists: hasLists
            )
        }
        var events: [Event] = []
        text[start...].withUnsafeBytes { split($0, &events) }
        return events
    }

    // MARK: - Records

    private mutating func consume(_ chunk: UnsafeRawBufferPointer) throws -> [Event] {
        var events: [Event] = []
        if format == .xml {
            try xml!.read(chunk, isLast: false, into: &events)
        } else if decoder.isIdentity {
            split(chunk, &events)
        } else {
            var text: [UInt8] = []
            decoder.decode(chunk, into: &text)
            text.withUnsafeBytes { split($0, &events) }
        }
        return events
    }

    private mutating func split(_ text: UnsafeRawBufferPointer, _ events: inout [Event]) {
        switch format {
        case .csv:
            let headerLine = layout?.headerLine ?? 1
            csv.read(text) { Self.append($0, from: headerLine, to: &events) }
        case .xml: break
        case .ndjson:
            for byte in text {
                if byte == 0x0A {
                    endLine(&events)
                } else if lineBytes.count <= CSVReader.recordLimit {
                    lineBytes.append(byte)
                }
            }
        }
    }

    /// Adds a record, unless it is above the header or an empty row of a spreadsheet.
    private static func append(_ event: CSVReader.Event, from headerLine: Int, to events: inout [Event]) {
        switch event {
        case .record(let record):
            guard record.line >= headerLine, !record.isBlank() else { return }
            events.append(.csv(record))
        case .malformed(let line, let reason):
            guard line >= headerLine else { return }
            events.append(.malformed(line: line, reason: reason))
        }
    }

    private mutating func endLine(_ events: inout [Event]) {
        line += 1
        defer { lineBytes.removeAll(keepingCapacity: true) }
        if lineBytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
        events.append(.line(line, lineBytes))
    }

    /// Parses a line of NDJSON.
    static func value(of bytes: [UInt8], line: Int) throws(ImportRejection) -> JSONValue {
        guard bytes.count <= CSVReader.recordLimit else {
            throw ImportRejection(line: line, reason: "the record exceeds \(CSVReader.recordLimit) bytes")
        }
        do { return try JSONReader.parse(bytes) } catch {
            throw ImportRejection(line: line, reason: "invalid JSON at byte \(error.offset): \(error.detail)")
        }
    }
}

extension CSVReader.Record {
    /// Checks that the record has the columns of a header, and returns the reason if it does not.
    ///
    /// Separators at the end of only the header or only the rows are accepted, because their fields are empty.
    ///
    /// - Parameters:
    ///   - width: the number of the header's columns.
    ///   - titled: the number of its columns without the untitled ones at its end.
    func fault(width: Int, titled: Int) -> String? {
        if count == width || count >= titled && isBlank(from: titled) { return nil }
        return "the row has \(count) columns, the header \(width); quote values that contain the separator"
    }
}
