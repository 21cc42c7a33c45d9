internal import Catalog
internal import Platform

/// Reads the records of an XML file: the elements with certain names, and in them the texts of their children.
///
/// Names have no prefixes. A child in a child has the name of both, with a point between them. Of several children with one
/// name, the first with a text counts.
struct XMLRecordReader {
    /// Created with the first piece, which may begin with a mark of UTF-8.
    private var stream: XMLStream?
    private let encoding: TextEncoding?
    private let names: Set<String>
    /// The record that is read; nil between records.
    private var record: FieldRecord?
    /// The names and texts of the open elements in the record.
    private var open: [(name: String, text: [UInt8])] = []
    private var size = 0
    private var hasEnded = false

    /// - Parameters:
    ///   - names: the names of the elements that are records; case is ignored.
    ///   - encoding: the encoding; nil for the one that the document states.
    init(_ names: [String], _ encoding: TextEncoding?) {
        self.names = Set(names.map { $0.lowercased() })
        self.encoding = encoding
    }

    mutating func read(
        _ piece: UnsafeRawBufferPointer,
        isLast: Bool,
        into events: inout [RecordReader.Event]
    ) throws {
        guard !hasEnded else { return }
        let stream = stream ?? makeStream(piece)
        self.stream = stream
        do {
            try stream.read(piece, isLast: isLast) { event in
                switch event {
                case .start(let name, let attributes, let line): start(name, attributes, line)
                case .text(let bytes): append(bytes)
                case .end(let line): end(line, &events)
                }
            }
        } catch let fault as XMLStream.Fault {
            hasEnded = true
            events.append(.malformed(line: fault.line, reason: "the file \(fault.reason); the rest was not read"))
        }
    }

    private func makeStream(_ start: UnsafeRawBufferPointer) -> XMLStream {
        let hasMark = start.starts(with: [0xEF, 0xBB, 0xBF])
        return XMLStream(encoding: hasMark ? TextEncoding.utf8.rawValue : encoding?.rawValue) { name in
            TextEncoding(rawValue: name)?.upperHalf.map { $0.map { $0?.value ?? 0xFFFD } }
        }
    }

    private mutating func start(_ name: String, _ attributes: [String: String], _ line: Int) {
        guard record != nil else {
            if names.contains(name.lowercased()) {
                record = FieldRecord(line: line)
                (open, size) = ([], 0)
            }
            return
        }
        // Links of Atom have their address in an attribute.
        open.append((open.last.map { "\($0.name).\(name)" } ?? name, Array((attributes["href"] ?? "").utf8)))
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard record != nil, !open.isEmpty else { return }
        size += bytes.count
        if size <= CSVReader.recordLimit { open[open.count - 1].text.append(contentsOf: bytes) }
    }

    private mutating func end(_ line: Int, _ events: inout [RecordReader.Event]) {
        guard record != nil else { return }
        guard let element = open.popLast() else {
            let record = record.take()!
            if size > CSVReader.recordLimit {
                events.append(
                    .malformed(line: record.line, reason: "the record exceeds \(CSVReader.recordLimit) bytes")
                )
            } else {
                events.append(.fields(record))
            }
            return
        }
        let text = String(decoding: element.text, as: UTF8.self).trimmed
        guard !text.isEmpty, record!.fields.count + record!.others.count < CSVReader.fieldLimit else { return }
        record!.add(element.name, text)
    }
}

/// A record of named texts.
struct FieldRecord {
    let line: Int
    private(set) var fields: [(name: String, text: String)] = []
    /// The further texts of names that are in the record already.
    private(set) var others: [(name: String, text: String)] = []

    init(line: Int) { self.line = line }

    /// Adds a text.
    mutating func add(_ name: String, _ text: String) {
        if fields.contains(where: { $0.name == name }) {
            others.append((name, text))
        } else {
            fields.append((name, text))
        }
    }

    /// Returns the record as an element of XML.
    func xml(named element: String) -> String { "<\(element)>\(content)</\(element)>" }

    /// The fields as elements of XML.
    var content: String {
        (fields + others).map { name, text in
            let element = name.replacing(".", with: "_")
            return "<\(element)>\(Self.escaped(text))</\(element)>"
        }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
