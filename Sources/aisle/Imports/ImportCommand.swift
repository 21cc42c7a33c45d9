internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import CatalogJSON
internal import CatalogPostgres
internal import LibPQ

struct ImportCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import products from a CSV, NDJSON or XML file.",
        discussion: """
            Columns: \(ImportColumn.allCases.map(\.columnName).joined(separator: ", ")). Map other column names with \
            --map, such as --map name=Product price=Price, and to attributes of products with attributes.NAME=COLUMN. Columns with \
            the names of declared attributes are read, too. A profile has the names of all columns of a foreign format: see aisle \
            import-profile list. Importing the same file again changes nothing. gzip files, and zip archives of one file, are read as well.
            """
    )

    @Argument(help: "The file, or - for standard input.") var file: String
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The store of all rows; a file with rows for another store is an error.") var store: StoreName?
    @Option(help: "The profile of the file: a name of aisle import-profile list, or a JSON file.") var profile: String?
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
    @Option(help: "The currency of new stores if the file has no currency column; by default, that of the first price.")
    var currency: String?
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
        let chunks = try FileChunks(path: file)
        try await database.withCatalog { catalog in
            let options = try options(try await ImportProfileCommand.profile(profile, catalog))
            let rejections = try Rejections(
                file: fileArguments.rejects,
                input: file,
                options.format,
                options.dialect,
                hasVariants: options.profile.variants != nil
            )
            let start = ContinuousClock.now
            let summary: ImportSummary
            do {
                summary = try await Importer(catalog).importFile(
                    FileContent(chunks),
                    options,
                    onReject: rejections.add,
                    onProgress: { rows in
                        Console.progress(
                            "\(rows) rows",
                            share: chunks.size.map { Double(chunks.progress.read) / Double($0) }
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
            for row in summary.preview { Console.note("as read: \(row.description)") }
            for warning in summary.warnings { Console.note("warning: \(warning)") }
            printUnknownSizes(summary)
            let seconds = Double((ContinuousClock.now - start).milliseconds) / 1000
            let counts = summary.counts.filter {
                $0.count > 0 || ["read", "inserted", "updated", "unchanged", "rejected"].contains($0.name)
            }
            Console.data(counts.map { "\($0.name)\t\($0.count)\n" }.joined())
            var report = ImportReport(summary, isDryRun: dryRun, rejections: rejections.first)
            report.error = summary.refusal.map { CommandFailure($0).message }
            try fileArguments.write(report: report.json, input: file)
            if let refusal = summary.refusal { throw refusal }
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
        Console.note(
            "unknown sizes: \(list); write them as a number and a unit, such as 500 g or 6 x 330 ml, or correct what contradicts them"
        )
    }

    func options(_ profile: ImportProfile?) throws -> ImportOptions {
        let chosen = try profile?.format ?? fileArguments.format ?? ImportOptions.Format.of(file, nil)
        if let given = fileArguments.format, given != chosen {
            throw CommandFailure(
                "--format \(given.rawValue) contradicts the profile, which is for \(chosen.rawValue)",
                CommandFailure.usage
            )
        }
        var options = ImportOptions(
            format: chosen,
            store: try store?.key,
            currency: try parsedCurrency(),
            onError: onError,
            prunes: prune,
            createsStores: createStore,
            isDryRun: dryRun
        )
        options.confirmsPrune = yes
        if let profile {
            options.profile = profile
            options.profileName = self.profile
        }
        if sizeFromName { options.profile.readsSizeFromName = true }
        try fileArguments.read(into: &options.dialect)
        try map(&options.profile.mapping)
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

    private func parsedCurrency() throws -> Currency? {
        guard let text = currency else { return nil }
        guard let currency = Currency(text) else {
            throw CommandFailure(
                "--currency must be an ISO 4217 code, such as EUR (got “\(text)”)",
                CommandFailure.usage
            )
        }
        return currency
    }

    /// Adds the columns and constants of the command line, which take precedence over the profile.
    private func map(_ map: inout ImportMapping) throws {
        for (name, title) in try Self.pairs(mapping, "--map", "COLUMN=NAME, such as price=Price") {
            if let column = ImportColumn(columnName: name) {
                let constant = map.constant(column)
                map.columns[column] = ColumnSource(title)
                map.columns[column]?.constant = constant
            } else if name.hasPrefix("attributes."), ImportMapping.isAttributeName(String(name.dropFirst(11))) {
                map.attributes[String(name.dropFirst(11))] = ColumnSource(title)
            } else {
                throw Self.unknown(name, "--map")
            }
        }
        for (name, text) in try Self.pairs(constants, "--set", "COLUMN=VALUE, such as shelf=Dairy") {
            guard let column = ImportColumn(columnName: name) else { throw Self.unknown(name, "--set") }
            map.set(column, constant: text)
        }
    }

    private static func pairs(_ pairs: [String], _ option: String, _ form: String) throws -> [(String, String)] {
        try pairs.map { pair in
            let halves = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2 else {
                throw CommandFailure("\(option) must be \(form) (got “\(pair)”)", CommandFailure.usage)
            }
            return (halves[0], halves[1])
        }
    }

    private static func unknown(_ name: String, _ option: String) -> CommandFailure {
        let names = ImportColumn.allCases.map(\.columnName).joined(separator: ", ")
        return CommandFailure(
            "\(option): “\(name)” is not a column; columns: \(names), and attributes.NAME",
            CommandFailure.usage
        )
    }
}
