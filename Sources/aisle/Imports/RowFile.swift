internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import CatalogJSON
internal import CatalogPostgres
internal import LibPQ
internal import Platform

/// An input file with rows of named columns. It is read twice: to check all rows, and then to use them.
struct RowFile {
    let path: String
    let format: ImportOptions.Format
    let columns: [String]
    let required: [String]
    let rejections: Rejections
    private let arguments: FileArguments
    private let dialect: FileDialect
    private let limit: ExactDecimal
    private let keepsRows: Bool

    /// The results of the first pass.
    private(set) var read = 0
    private(set) var warnings: [String] = []
    private(set) var foundDialect = FileDialect()

    init(_ path: String, _ arguments: FileArguments, columns: [String], required: [String]) throws {
        dialect = try arguments.dialect()
        limit = try arguments.rejectedPercentLimit()
        format = try .of(path, arguments.format)
        guard format != .xml else {
            throw CommandFailure("XML files can only be imported as products; use CSV or NDJSON", CommandFailure.usage)
        }
        // Report an unreadable file first.
        let source = path == "-" ? try InputFile.spool() : path
        _ = try FileChunks(path: source)
        self.path = source
        self.columns = columns
        self.required = required
        self.arguments = arguments
        keepsRows = arguments.rejects != nil
        rejections = try Rejections(file: arguments.rejects, input: path, format, dialect)
    }

    /// Checks all rows, before any of them is used.
    ///
    /// - Parameter onRows: rejects rows that are invalid.
    /// - Throws: `CatalogError.unprocessable` if more rows are rejected than the options allow.
    mutating func check(_ onRows: ([NamedRow]) async throws -> Void, atEnd: () async throws -> Void) async throws {
        do {
            let reader = try await pass { rows, all in
                read += all
                try await onRows(rows)
            }
            try await atEnd()
            (warnings, foundDialect) = (reader.warnings, reader.dialect)
            try rejections.end()
            for warning in warnings { Console.note("warning: \(warning)") }
            try ImportOptions.checkRejected(rejections.count, of: read, limit: limit)
        } catch {
            Console.endProgress()
            try rejections.end()
            try arguments.write(
                report: ImportReport.failure(CommandFailure(error).message, rejections.first),
                input: path
            )
            throw error
        }
    }

    /// Reads the file in chunks and passes on the rows after each chunk.
    func read(_ onRows: ([NamedRow]) async throws -> Void) async throws {
        _ = try await pass { rows, _ in try await onRows(rows) }
    }

    /// Writes the report, if requested.
    func report(_ counts: [(name: String, count: Int)]) throws {
        var report = ImportReport(counts: counts, dialect: foundDialect)
        report.warnings = warnings
        report.rejections = rejections.first
        try arguments.write(report: report.json, input: path)
    }

    private func pass(_ onRows: (_ rows: [NamedRow], _ count: Int) async throws -> Void) async throws -> NamedRowReader
    {
        let chunks = FileContent(try FileChunks(path: path))
        var reader = NamedRowReader(format, dialect, columns: columns, required: required, keepsRejectedRows: keepsRows)
        var rows: [NamedRow] = []
        var rejected: [ImportRejection] = []
        func handle(_ event: NamedRowReader.Event) {
            switch event {
            case .row(let row): rows.append(row)
            case .rejected(let rejection): rejected.append(rejection)
            }
        }
        for try await chunk in chunks {
            try Task.checkCancellation()
            try chunk.withUnsafeBytes { try reader.read($0, handle) }
            try rejected.forEach(rejections.add)
            try await onRows(rows, rows.count + rejected.count)
            (rows, rejected) = ([], [])
        }
        try reader.end(handle)
        try rejected.forEach(rejections.add)
        try await onRows(rows, rows.count + rejected.count)
        return reader
    }
}

extension ImportOptions.Format {
    /// Returns the given format, or the one of the file extension.
    static func of(_ path: String, _ format: Self?) throws -> Self {
        if let format { return format }
        var name = (path.split(separator: "/").last ?? "")[...]
        // Archives are recognized by their content.
        for ending in [".gz", ".zip"] where name.lowercased().hasSuffix(ending) && name.count > ending.count {
            name = name.dropLast(ending.count)
        }
        let fileExtension =
            name.dropFirst().split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased()
            ?? ""
        // The separator of a CSV file is found in its header.
        let known = ["tsv": "csv", "txt": "csv", "jsonl": "ndjson"][fileExtension] ?? fileExtension
        guard let chosen = Self(rawValue: known) else {
            if let entry = fileOfArchive(path) { return try of(entry, nil) }
            throw CommandFailure(
                "the format of \(name) is not known from its extension; use --format csv, ndjson or xml",
                CommandFailure.usage
            )
        }
        return chosen
    }

    /// Returns the name of the file in a zip archive; nil for another file.
    private static func fileOfArchive(_ path: String) -> String? {
        guard path.lowercased().hasSuffix(".zip"), let start = try? InputFile(path).read(upTo: 1 << 16) else {
            return nil
        }
        var decompressor = Decompressor()
        // A damaged archive is reported when it is imported.
        try? decompressor.read(start) { _ in }
        return decompressor.fileName
    }
}

extension ImportOptions.Format: ExpressibleByArgument {}
extension ImportOptions.ErrorPolicy: ExpressibleByArgument {}

/// The chunks of a file or of standard input.
struct FileChunks: AsyncSequence, Sendable {
    /// The number of bytes read so far.
    final class Progress: @unchecked Sendable { var read = 0 }

    private let file: InputFile
    let progress = Progress()

    init(path: String) throws { file = try InputFile(path) }

    /// The size in bytes; nil for standard input.
    var size: Int? { file.size }

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: InputFile
        let progress: Progress
        mutating func next() async throws -> [UInt8]? {
            let bytes = try file.read(upTo: 1 << 18)
            guard !bytes.isEmpty else { return nil }
            progress.read += bytes.count
            return bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file, progress: progress) }
}
