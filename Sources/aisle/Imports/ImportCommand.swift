internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import LibPQ

struct ImportCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import products from a CSV or NDJSON file.",
        discussion: """
            Columns: \(ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")). A file with other names is read with \
            --map, such as --map name=Product price=Price. The same file again changes nothing.
            """
    )

    @Argument(help: "The file, or - for standard input.") var file: String
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The store of all rows, where the file has no such column.") var store: String?
    @Option(help: "The format; otherwise the file's ending decides.") var format: ImportOptions.Format?
    @Option(name: .customLong("map"), parsing: .upToNextOption, help: "Columns as the file names them: canonical=own …")
    var mapping: [String] = []
    @Option(help: "The currency of new stores, where the file has no such column.") var currency = "EUR"
    @Flag(help: "Read the size of rows without one from the end of the name.") var sizeFromName = false
    @Option(help: "skip: take the good rows; abort: one bad row stops everything.")
    var onError = ImportOptions.ErrorPolicy.skip
    @Option(help: "Write the rejected rows to a CSV file.") var rejects: String?
    @Flag(help: "Take away what the file does not name.") var prune = false
    @Option(help: "How many shelves the import may create.")
    var maxNewShelves = ImportOptions.defaultNewShelfLimit
    @Flag(help: "Only tell what would be done.") var dryRun = false

    func execute() async throws {
        let options = try options()
        let pieces = try FilePieces(path: file)
        let catalog = try await database.catalog()
        defer { catalog.shutDown() }
        let rejections = try Rejections(keptIn: rejects, besides: file, hasRows: true)
        let start = ContinuousClock.now
        let summary = try await Importer(catalog).run(
            pieces,
            options,
            onReject: rejections.note,
            onProgress: { rows in
                Console.progress("\(rows) rows", share: pieces.size.map { Double(pieces.progress.read) / Double($0) })
            }
        )
        Console.endProgress()
        try rejections.end()
        for warning in summary.warnings { Console.note("warning: \(warning)") }
        let seconds = Double((ContinuousClock.now - start).milliseconds) / 1000
        let counts = summary.counts.filter {
            $0.count > 0 || ["read", "inserted", "updated", "unchanged", "rejected"].contains($0.name)
        }
        Console.data(counts.map { "\($0.name)\t\($0.count)\n" }.joined())
        Console.note("\(dryRun ? "rehearsed" : "imported") in \(seconds) s")
    }

    private func options() throws -> ImportOptions {
        let chosen = try ImportOptions.Format.of(file, format)
        var columns: [ImportColumn: String] = [:]
        for pair in mapping {
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2, let column = ImportColumn(rawValue: halves[0]) else {
                let names = ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(
                    "--map takes canonical=own, such as price=Price, not “\(pair)”; columns: \(names)",
                    CommandFailure.usage
                )
            }
            columns[column] = halves[1]
        }
        guard let currency = Currency(currency) else {
            throw CommandFailure("“\(currency)” is no ISO 4217 code", CommandFailure.usage)
        }
        let key = try store.map(storeKey)
        var options = ImportOptions(
            format: chosen,
            store: key,
            mapping: columns,
            currency: currency,
            readsSizeFromName: sizeFromName,
            onError: onError,
            prunes: prune,
            isDryRun: dryRun
        )
        options.keepsRejectedRows = rejects != nil
        guard (0...ImportOptions.greatestNewShelfLimit).contains(maxNewShelves) else {
            throw CommandFailure(
                "--max-new-shelves must be between 0 and \(ImportOptions.greatestNewShelfLimit) (got \(maxNewShelves))",
                CommandFailure.usage
            )
        }
        options.newShelfLimit = maxNewShelves
        return options
    }
}
