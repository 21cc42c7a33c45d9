internal import Catalog
internal import Platform

/// Reads the records of an XML file: the elements with certain names, and in them the texts of their children.
///
/// A child in a child has the name of both, with a point between them.
struct XMLRecordReader {
    /// Created with the first chunk, which may begin with a mark of UTF-8.
    private var stream: XMLStream?
    private let encoding: TextEncoding?
    private let names: Set<String>
    /// The record that is read; nil between records.
    private var record: FieldRecord?
    /// The names and texts of the open elements in the record.
    private var open: [(name: String, text: [UInt8])] = []
    private var size = 0
    private var count = 0
    private var hasRecords = false

    /// - Parameters:
    ///   - names: the names of the elements that are records; case is ignored.
    ///   - encoding: the encoding; nil for the one that the document states.
    init(_ names: [String], _ encoding: TextEncoding?) {
        self.names = Set(names.map { $0.lowercased() })
        self.encoding = encoding
    }

    mutating func read(
        _ chunk: UnsafeRawBufferPointer,
        isLast: Bool,
        into events: inout [RecordSplitter.Event]
    ) throws {
        let stream = stream ?? makeStream(chunk)
        self.stream = stream
        do {
            try stream.read(chunk, isLast: isLast) { event in
                switch event {
                case .start(let name, let attributes, let line): start(name, attributes, line)
                case .text(let bytes): append(bytes)
                case .end(let line): end(line, &events)
                }
            }
        } catch let fault as XMLStream.Fault {
            throw CatalogError.unprocessable(
                field: "file",
                detail: "line \(fault.line): the file \(fault.reason); nothing was imported"
            )
        }
        guard !isLast || hasRecords else {
            throw CatalogError.unprocessable(
                field: "file",
                detail: """
                    the file has no elements \(names.sorted().joined(separator: " or ")), which are the rows; name those that \
                    are in a profile (records)
                    """
            )
        }
    }

    private var isTooLong: Bool { size > CSVReader.recordLimit || count > CSVReader.fieldLimit }

    private func makeStream(_ start: UnsafeRawBufferPointer) -> XMLStream {
        let hasMark = start.starts(with: [0xEF, 0xBB, 0xBF])
        return XMLStream(encoding: hasMark ? TextEncoding.utf8.rawValue : encoding?.rawValue) { name in
            TextEncoding(rawValue: name)?.upperHalf.map { $0.map { $0?.value ?? 0xFFFD } }
        }
    }

    private mutating func start(_ name: String, _ attributes: [String: String], _ line: Int) {
        guard record != nil else {
            if names.contains(FieldRecord.localName(name).lowercased()) {
                record = FieldRecord(line: line)
                (open, size, count, hasRecords) = ([], 0, 0, true)
            }
            return
        }
        // Links of Atom have their address in an attribute.
        let path = open.last.map { "\($0.name).\(FieldRecord.localName(name))" } ?? name
        let link = attributes["href"] ?? ""
        size += path.utf8.count + link.utf8.count
        count += 1
        open.append(isTooLong ? ("", []) : (path, Array(link.utf8)))
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard record != nil, !open.isEmpty else { return }
        size += bytes.count
        if !isTooLong { open[open.count - 1].text.append(contentsOf: bytes) }
    }

    private mutating func end(_ line: Int, _ events: inout [RecordSplitter.Event]) {
        guard record != nil else { return }
        guard let element = open.popLast() else {
            let record = record.take()!
            if isTooLong {
                let reason = "the record exceeds \(CSVReader.recordLimit) bytes or \(CSVReader.fieldLimit) elements"
                events.append(.malformed(line: record.line, reason: reason))
            } else {
                events.append(.fields(record))
            }
            return
        }
        let text = String(decoding: element.text, as: UTF8.self).trimmed
        guard !text.isEmpty, !isTooLong else { return }
        record!.add(element.name, text)
    }
}

/// A record of named texts.
struct FieldRecord {
    let line: Int
    /// The texts in the order of the file; several may have one name.
    private(set) var fields: [(name: String, text: String)] = []

    init(line: Int) { self.line = line }

    mutating func add(_ name: String, _ text: String) { fields.append((name, text)) }

    /// Returns the record with texts of fields that are missing or blank; names with characters that elements cannot have are
    /// left out.
    ///
    /// - Parameter replaced: the field whose own text does not count if there is a text for it.
    func filling(_ texts: [(name: String, text: String)], replacing replaced: String? = nil) -> FieldRecord {
        var record = FieldRecord(line: line)
        for (name, text) in fields where !text.trimmed.isEmpty {
            let isReplaced = [name, Self.localName(name)].contains { RejectedRow.replaces($0, replaced, texts) }
            if !isReplaced { record.add(name, text) }
        }
        let names = record.fields.flatMap { [$0.name, Self.localName($0.name)] }
        for (name, text) in RejectedRow.missing(texts, in: names) {
            let name = name.replacing(" ", with: "_")
            guard name.first?.isLetter == true, name.allSatisfy({ $0.isLetter || $0.isNumber || "_-.:".contains($0) })
            else { continue }
            record.add(name, text)
        }
        return record
    }

    /// Returns the record as an element of XML.
    func xml(named element: String) -> String { "<\(element)>\(content)</\(element)>" }

    /// The fields as elements of XML.
    var content: String {
        fields.map { name, text in "<\(name)>\(Self.escaped(text))</\(name)>" }.joined()
    }

    /// Returns a name without its prefix.
    static func localName(_ name: String) -> String {
        name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
