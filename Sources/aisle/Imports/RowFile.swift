internal import ArgumentParser
internal import CatalogJSON
internal import Catalog

/// An input file with rows of named columns.
struct RowFile {
    let path: String
    let format: ImportOptions.Format
    let columns: [String]
    let required: [String]
    let rejections: Rejections

    /// - Parameter rejects: the file for rejected rows.
    init(_ path: String, format: ImportOptions.Format?, columns: [String], needed: [String], rejects: String?) throws {
        self.path = path
        // Report an unreadable file first.
        if path != "-" { _ = try FileChunks(path: path) }
        self.format = try .of(path, format)
        self.columns = columns
        self.required = needed
        rejections = try Rejections(keptIn: rejects, besides: path)
    }

    /// Reads the file in chunks and passes on the rows after each chunk.
    func read(_ onRows: ([FieldRow]) async throws -> Void) async throws {
        let pieces = try FileChunks(path: path)
        var reader = RowReader(format, columns: columns, needed: required)
        var rows: [FieldRow] = []
        var bad: [ImportRejection] = []
        func handle(_ event: RowReader.Event) {
            switch event {
            case .row(let row): rows.append(row)
            case .rejected(let rejection): bad.append(rejection)
            }
        }
        for try await piece in pieces {
            try Task.checkCancellation()
            try piece.withUnsafeBytes { try reader.read($0, handle) }
            try bad.forEach(rejections.add)
            bad = []
            try await onRows(rows)
            rows = []
        }
        try reader.end(handle)
        try bad.forEach(rejections.add)
        try await onRows(rows)
    }
}

extension ImportOptions.Format {
    /// Returns the given format, or the one of the file extension.
    static func of(_ path: String, _ format: Self?) throws -> Self {
        if let format { return format }
        let name = path.split(separator: "/").last ?? ""
        let ending =
            name.dropFirst().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased()
            ?? ""
        guard let chosen = Self(rawValue: ending == "jsonl" ? "ndjson" : ending) else {
            throw CommandFailure(
                "unknown file extension; use --format csv or --format ndjson",
                CommandFailure.usage
            )
        }
        return chosen
    }
}

extension ImportOptions.Format: ExpressibleByArgument {}
extension ImportOptions.ErrorPolicy: ExpressibleByArgument {}
