internal import ArgumentParser
internal import Catalog
internal import CatalogJSON

/// An input file with rows of named columns.
struct RowFile {
    let path: String
    let format: ImportOptions.Format
    let columns: [String]
    let required: [String]
    let rejections: Rejections

    /// - Parameter rejects: the file for rejected rows.
    init(_ path: String, format: ImportOptions.Format?, columns: [String], required: [String], rejects: String?) throws
    {
        self.path = path
        // Report an unreadable file first.
        if path != "-" { _ = try FileChunks(path: path) }
        self.format = try .of(path, format)
        self.columns = columns
        self.required = required
        rejections = try Rejections(file: rejects, input: path)
    }

    /// Reads the file in chunks and passes on the rows after each chunk.
    func read(_ onRows: ([FieldRow]) async throws -> Void) async throws {
        let pieces = try FileChunks(path: path)
        var reader = RowReader(format, columns: columns, required: required)
        var rows: [FieldRow] = []
        var rejected: [ImportRejection] = []
        func handle(_ event: RowReader.Event) {
            switch event {
            case .row(let row): rows.append(row)
            case .rejected(let rejection): rejected.append(rejection)
            }
        }
        for try await piece in pieces {
            try Task.checkCancellation()
            try piece.withUnsafeBytes { try reader.read($0, handle) }
            try rejected.forEach(rejections.add)
            rejected = []
            try await onRows(rows)
            rows = []
        }
        try reader.end(handle)
        try rejected.forEach(rejections.add)
        try await onRows(rows)
    }
}

extension ImportOptions.Format {
    /// Returns the given format, or the one of the file extension.
    static func of(_ path: String, _ format: Self?) throws -> Self {
        if let format { return format }
        let name = path.split(separator: "/").last ?? ""
        let fileExtension =
            name.dropFirst().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased()
            ?? ""
        // The separator of a CSV file is found in its first line.
        let known = ["tsv": "csv", "txt": "csv", "jsonl": "ndjson"][fileExtension] ?? fileExtension
        guard let chosen = Self(rawValue: known) else {
            throw CommandFailure(
                "the format of \(name) is not known from its extension; use --format csv or --format ndjson",
                CommandFailure.usage
            )
        }
        return chosen
    }
}

extension ImportOptions.Format: ExpressibleByArgument {}
extension ImportOptions.ErrorPolicy: ExpressibleByArgument {}
