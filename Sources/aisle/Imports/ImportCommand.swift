internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import LibPQ

struct ImportCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import products from a CSV or NDJSON file.",
        discussion: """
            Columns: \(ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")). Map other column names with \
            --map, such as --map name=Product price=Price. Importing the same file again changes nothing.
            """
    )

    @Argument(help: "The file, or - for standard input.") var file: String
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The store of all rows; a file with rows for another store is an error.") var store: StoreName?
    @Option(help: "The format; defaults to the file extension.") var format: ImportOptions.Format?
    @Option(
        name: .customLong("map"),
        parsing: .upToNextOption,
        help: "Column mappings such as price=Price: a column above, then its name in the file. Put them after the file."
    )
    var mapping: [String] = []
    @Option(help: "The currency of new stores if the file has no currency column.") var currency = "EUR"
    @Flag(help: "Parse missing sizes from the end of the name.") var sizeFromName = false
    @Option(help: "skip: import the valid rows; abort: import nothing if a row is invalid.")
    var onError = ImportOptions.ErrorPolicy.skip
    @Option(help: "Write the rejected rows to a CSV file.") var rejects: String?
    @Flag(help: "Delete products and placements that are missing from the file.") var prune = false
    @Option(parsing: .unconditional, help: "The maximum number of new shelves.")
    var maxNewShelves = ImportOptions.defaultNewShelfLimit
    @Option(parsing: .unconditional, help: "The maximum percentage of rejected rows; with more, nothing is imported.")
    var maxRejects = "5"
    @Flag(help: "Report the result without changing anything.") var dryRun = false

    func execute() async throws {
        let options = try options()
        let pieces = try FileChunks(path: file)
        try await database.withCatalog { catalog in
            let rejections = try Rejections(file: rejects, input: file, hasRows: true)
            let start = ContinuousClock.now
            let summary: ImportSummary
            do {
                summary = try await Importer(catalog).run(
                    pieces,
                    options,
                    onReject: rejections.add,
                    onProgress: { rows in
                        Console.progress(
                            "\(rows) rows",
                            share: pieces.size.map { Double(pieces.progress.read) / Double($0) }
                        )
                    }
                )
            } catch {
                // The rejected rows are what must be corrected, above all if nothing was imported.
                Console.endProgress()
                try rejections.end()
                throw error
            }
            Console.endProgress()
            try rejections.end()
            for warning in summary.warnings { Console.note("warning: \(warning)") }
            printUnknownSizes(summary)
            let seconds = Double((ContinuousClock.now - start).milliseconds) / 1000
            let counts = summary.counts.filter {
                $0.count > 0 || ["read", "inserted", "updated", "unchanged", "rejected"].contains($0.name)
            }
            Console.data(counts.map { "\($0.name)\t\($0.count)\n" }.joined())
            Console.note("\(dryRun ? "dry run finished" : "imported") in \(seconds) s")
        }
    }

    private func printUnknownSizes(_ summary: ImportSummary) {
        let texts = summary.unknownSizes.mostFrequent.filter { !$0.text.isEmpty }
        guard !texts.isEmpty else { return }
        let list = texts.map { "“\($0.text)” \($0.count) ×" }.joined(separator: ", ")
        Console.note("sizes not understood: \(list); write them as a number and a unit, such as 500 g or 6 x 330 ml")
    }

    private func options() throws -> ImportOptions {
        let chosen = try ImportOptions.Format.of(file, format)
        var columns: [ImportColumn: String] = [:]
        for pair in mapping {
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2, let column = ImportColumn(rawValue: halves[0]) else {
                let names = ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(
                    "--map must be COLUMN=NAME, such as price=Price (got “\(pair)”); columns: \(names)",
                    CommandFailure.usage
                )
            }
            columns[column] = halves[1]
        }
        guard let currency = Currency(currency) else {
            throw CommandFailure(
                "--currency must be an ISO 4217 code, such as EUR (got “\(currency)”)",
                CommandFailure.usage
            )
        }
        let key = try store?.key
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
        guard (0...ImportOptions.maximumNewShelfLimit).contains(maxNewShelves) else {
            throw CommandFailure(
                "--max-new-shelves must be between 0 and \(ImportOptions.maximumNewShelfLimit) (got \(maxNewShelves))",
                CommandFailure.usage
            )
        }
        options.newShelfLimit = maxNewShelves
        guard let percent = ImportOptions.percent(maxRejects) else {
            throw CommandFailure(
                "--max-rejects must be a percentage between 0 and 100 (got “\(maxRejects)”)",
                CommandFailure.usage
            )
        }
        options.rejectedPercentLimit = percent
        return options
    }
}
