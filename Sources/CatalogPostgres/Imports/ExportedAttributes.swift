internal import Catalog
internal import CatalogImport
internal import JSON

/// The columns of exports that have attributes, and the rows with them.
///
/// The last column of a row is the object with all attributes of its product. The columns of declared attributes follow it, and take their
/// values out of it. Values that a cell cannot state stay in the object: those of undeclared attributes or another type, and texts with spaces
/// at an end.
struct ExportedAttributes {
    private let names: [String]
    private let definitions: [String: AttributeDefinition]
    private var reader = CSVReader()

    /// - Parameters:
    ///   - names: the attributes that have columns in the file.
    ///   - set: the attributes in effect in the store of the rows.
    init(_ names: [String], _ set: AttributeSet) {
        self.names = names
        definitions = Dictionary(
            uniqueKeysWithValues: set.attributes.map { ($0.name.text, $0.definition) }.filter { names.contains($0.0) }
        )
    }

    /// Returns the attributes of stores that files can state, by name: all but those that are computed.
    static func names(in sets: some Sequence<AttributeSet>) -> [String] {
        var names: Set<String> = []
        for attribute in sets.lazy.flatMap(\.attributes) {
            switch attribute.definition.form {
            case .number, .enumeration, .set, .text, .boolean, .date: names.insert(attribute.name.text)
            case .ratio, .unknown: break
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns rows with the columns.
    ///
    /// - Parameter chunk: the next part of the rows, which may end within one.
    mutating func rows(_ chunk: [UInt8]) throws -> [UInt8] {
        var events: [CSVReader.Event] = []
        chunk.withUnsafeBytes { bytes in reader.read(bytes) { events.append($0) } }
        var rows: [UInt8] = []
        rows.reserveCapacity(chunk.count + chunk.count / 4)
        for event in events { try append(event, to: &rows) }
        return rows
    }

    private func append(_ event: CSVReader.Event, to bytes: inout [UInt8]) throws {
        guard case .record(let record) = event else { throw CatalogError.fault("an exported row cannot be read") }
        let last = record.count - 1
        for index in 0..<last {
            bytes += CSVReader.field(String(decoding: record.bytes(index), as: UTF8.self)).utf8
            bytes.append(UInt8(ascii: ","))
        }
        guard case .object(var members) = try JSONReader.parse(Array(record.bytes(last))) else {
            throw CatalogError.fault("the attributes of an exported product are not an object")
        }
        var cells: [String: String] = [:]
        members.removeAll { member in
            guard let definition = definitions[member.name],
                let text = AttributeCells.exported.text(member.value, of: definition)
            else { return false }
            cells[member.name] = text
            return true
        }
        bytes += CSVReader.field(JSONValue.object(members).text).utf8
        for name in names {
            bytes.append(UInt8(ascii: ","))
            if let text = cells[name] { bytes += CSVReader.field(text).utf8 }
        }
        bytes.append(0x0A)
    }
}
