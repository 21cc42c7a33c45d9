internal import Catalog

/// Cuts a file into records piece by piece, in bounded memory: those of CSV, or the lines of NDJSON.
struct RecordReader {
    enum Event {
        case csv(CSVReader.Record)
        /// A line that is not blank, without its end; one beyond the limit is cut off behind it.
        case line(Int, [UInt8])
        /// What cannot be read; the reader goes on behind it.
        case broken(line: Int, reason: String)
    }

    private let format: ImportOptions.Format
    private var csv = CSVReader()
    private var lineBytes: [UInt8] = []
    private var line = 0

    init(_ format: ImportOptions.Format) { self.format = format }

    /// The records that a piece of the file completes.
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

    /// Ends the file: what stands without a final line break is a record too.
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

    /// A line of NDJSON as a value.
    static func value(of bytes: [UInt8], line: Int) throws(ImportRejection) -> JSONValue {
        guard bytes.count <= CSVReader.recordLimit else {
            throw ImportRejection(line: line, reason: "a record of more than \(CSVReader.recordLimit) bytes")
        }
        do { return try JSONReader.parse(bytes) } catch {
            throw ImportRejection(line: line, reason: "is no JSON: \(error.detail), at byte \(error.offset)")
        }
    }
}

extension RecordReader.Event {
    fileprivate init(_ event: CSVReader.Event) {
        switch event {
        case .record(let record): self = .csv(record)
        case .broken(let line, let reason): self = .broken(line: line, reason: reason)
        }
    }
}
