internal import Catalog

/// Splits a file into CSV records or NDJSON lines, chunk by chunk, in bounded memory.
struct RecordReader {
    enum Event {
        case csv(CSVReader.Record)
        /// A non-blank line without its line break; a line above the limit is truncated.
        case line(Int, [UInt8])
        /// A malformed record; reading continues after it.
        case malformed(line: Int, reason: String)
    }

    private let format: ImportOptions.Format
    private var csv = CSVReader()
    private var lineBytes: [UInt8] = []
    private var line = 0

    init(_ format: ImportOptions.Format) { self.format = format }

    /// Reads a chunk of the file and returns the completed records.
    mutating func read(_ piece: UnsafeRawBufferPointer) -> [Event] {
        var events: [Event] = []
        switch format {
        case .csv: csv.read(piece) { events.append(Event($0)) }
        case .ndjson:
            for byte in piece {
                if byte == 0x0A {
                    endLine(&events)
                } else if lineBytes.count <= CSVReader.recordLimit {
                    lineBytes.append(byte)
                }
            }
        }
        return events
    }

    /// Ends the file; a last line without a line break is a record, too.
    mutating func end() -> [Event] {
        var events: [Event] = []
        switch format {
        case .csv: csv.end { events.append(Event($0)) }
        case .ndjson: if !lineBytes.isEmpty { endLine(&events) }
        }
        return events
    }

    private mutating func endLine(_ events: inout [Event]) {
        line += 1
        defer { lineBytes.removeAll(keepingCapacity: true) }
        if line == 1, lineBytes.starts(with: [0xEF, 0xBB, 0xBF]) { lineBytes.removeFirst(3) }
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

extension RecordReader.Event {
    fileprivate init(_ event: CSVReader.Event) {
        switch event {
        case .record(let record): self = .csv(record)
        case .malformed(let line, let reason): self = .malformed(line: line, reason: reason)
        }
    }
}
