internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import LibPQ

struct ImportCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import products from a CSV or NDJSON file.",
        discussion: """
            Columns: \(ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")). Map other column names with \
            --map, such as --map name=Product price=Price. Importing the same file again changes nothing. gzip files, and zip \
            archives of one file, are read as well.
            """
    )

    @Argument(help: "The file, or - for standard input.") var file: String
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The store of all rows; a file with rows for another store is an error.") var store: StoreName?
    @OptionGroup(title: "File Options") var fileArguments: FileArguments
    @Option(
        name: .customLong("map"),
        parsing: .upToNextOption,
        help: "Column mappings such as price=Price: a column above, then its name in the file. Put them after the file."
    )
    var mapping: [String] = []
    @Option(
        name: .customLong("set"),
        parsing: .upToNextOption,
        help: "Constants for columns that the file lacks, such as shelf=Dairy. Put them after the file."
    )
    var constants: [String] = []
    @Option(help: "The currency of new stores if the file has no currency column.") var currency = "EUR"
    @Flag(help: "Parse missing sizes from the end of the name.") var sizeFromName = false
    @Option(help: "skip: import the valid rows; abort: import nothing if a row is invalid.")
    var onError = ImportOptions.ErrorPolicy.skip
    @Flag(help: "Remove products that are missing from the file from its shelves; delete those on no other shelf.")
    var prune = false
    @Flag(help: "Confirm that --prune removes more than a tenth of a shelf's products.") var yes = false
    @Option(parsing: .unconditional, help: "The maximum number of new shelves.")
    var maxNewShelves = ImportOptions.defaultNewShelfLimit
    @Flag(help: "Create the stores in the file that do not exist; otherwise, such a store is an error.")
    var createStore = false
    @Flag(help: "Report the result without changing anything.") var dryRun = false

    func execute() async throws {
        let options = try options()
        let pieces = try FileChunks(path: file)
        try await database.withCatalog { catalog in
            let rejections = try Rejections(file: fileArguments.rejects, input: file, options.format, options.dialect)
            let start = ContinuousClock.now
            let summary: ImportSummary
            do {
                summary = try await Importer(catalog).run(
                    FileContent(pieces),
                    options,
                    onReject: rejections.add,
                    onProgress: { rows in
                        Console.progress(
                            "\(rows) rows",
                            share: pieces.size.map { Double(pieces.progress.read) / Double($0) }
                        )
                    },
                    onPrune: confirmPrune
                )
            } catch {
                // The rejected rows are what must be corrected, above all if nothing was imported.
                Console.endProgress()
                try rejections.end()
                let message = CommandFailure(error).message
                try fileArguments.write(report: ImportReport.failure(message, rejections.first), input: file)
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
            let report = ImportReport(summary, isDryRun: dryRun, rejections: rejections.first)
            try fileArguments.write(report: report.json, input: file)
            Console.note("\(dryRun ? "dry run finished" : "imported") in \(seconds) s")
        }
    }

    /// The number of printed shelves that lose products.
    private static let printedRemovals = 20

    /// Prints what pruning removes, and asks on a terminal if it is much; otherwise, `--yes` is required.
    private func confirmPrune(_ removals: [ShelfRemoval]) -> Bool {
        Console.endProgress()
        for removal in removals.prefix(Self.printedRemovals) { Console.note("prune: removes \(removal.description)") }
        let rest = removals.count - Self.printedRemovals
        if rest > 0 { Console.note("prune: and products from \(rest) more shel\(rest == 1 ? "f" : "ves")") }
        let large = removals.filter(\.isLarge)
        guard !dryRun, !yes, !large.isEmpty else { return yes }
        return Console.confirm("remove \(ShelfRemoval.list(large)), more than a tenth?")
    }

    private func printUnknownSizes(_ summary: ImportSummary) {
        let texts = summary.unknownSizes.mostFrequent.filter { !$0.text.isEmpty }
        guard !texts.isEmpty else { return }
        let list = texts.map { "“\($0.text)” \($0.count) ×" }.joined(separator: ", ")
        Console.note("sizes not understood: \(list); write them as a number and a unit, such as 500 g or 6 x 330 ml")
    }

    private func options() throws -> ImportOptions {
        let chosen = try ImportOptions.Format.of(file, fileArguments.format)
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
            mapping: try Self.columns(mapping, option: "--map", "COLUMN=NAME, such as price=Price"),
            currency: currency,
            readsSizeFromName: sizeFromName,
            onError: onError,
            prunes: prune,
            createsStores: createStore,
            isDryRun: dryRun
        )
        options.confirmsPrune = yes
        options.dialect = try fileArguments.dialect()
        options.constants = try Self.columns(constants, option: "--set", "COLUMN=VALUE, such as shelf=Dairy")
        options.keepsRejectedRows = fileArguments.rejects != nil
        guard (0...ImportOptions.maximumNewShelfLimit).contains(maxNewShelves) else {
            throw CommandFailure(
                "--max-new-shelves must be between 0 and \(ImportOptions.maximumNewShelfLimit) (got \(maxNewShelves))",
                CommandFailure.usage
            )
        }
        options.newShelfLimit = maxNewShelves
        options.rejectedPercentLimit = try fileArguments.rejectedPercentLimit()
        return options
    }

    /// Parses pairs of a column and a text.
    private static func columns(_ pairs: [String], option: String, _ form: String) throws -> [ImportColumn: String] {
        var columns: [ImportColumn: String] = [:]
        for pair in pairs {
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2, let column = ImportColumn(rawValue: halves[0]) else {
                let names = ImportColumn.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(
                    "\(option) must be \(form) (got “\(pair)”); columns: \(names)",
                    CommandFailure.usage
                )
            }
            columns[column] = halves[1]
        }
        return columns
    }
}
