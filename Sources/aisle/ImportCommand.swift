internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import Postgres
internal import SeedData

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
    @Option(help: "csv or ndjson; otherwise the file's ending decides.") var format: String?
    @Option(name: .customLong("map"), parsing: .upToNextOption, help: "Columns as the file names them: canonical=own …")
    var mapping: [String] = []
    @Option(help: "The currency of new stores, where the file has no such column.") var currency = "EUR"
    @Flag(help: "Read the size of rows without one from the end of the name.") var sizeFromName = false
    @Option(help: "skip: take the good rows; abort: one bad row stops everything.") var onError = "skip"
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
        guard ["skip", "abort"].contains(onError) else {
            throw CommandFailure("--on-error is skip or abort", CommandFailure.usage)
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
            abortsOnError: onError == "abort",
            prunes: prune,
            isRehearsal: dryRun
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

/// A file, or standard input, in pieces.
struct FilePieces: AsyncSequence, Sendable {
    /// How far it was read.
    final class Progress: @unchecked Sendable { var read = 0 }

    private let file: InputFile
    let progress = Progress()

    init(path: String) throws { file = try InputFile(path) }

    /// In bytes; nil for standard input.
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

struct SeedCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed",
        abstract: "Fill the catalog: with the small one of our own, or a large generated one."
    )

    @OptionGroup var database: DatabaseOptions
    @Option(help: "Generate so many shelves.") var shelves: Int?
    @Option(help: "Generate so many products.") var products: Int?
    @Option(help: "The generator's seed; the same makes the same catalog.") var seed: UInt64 = 7

    func execute() async throws {
        let catalog = try await database.catalog()
        defer { catalog.shutDown() }
        guard shelves != nil || products != nil else {
            let summary = try await seedOwnCatalog(catalog)
            return Console.data(summary.counts.prefix(5).map { "\($0.name)\t\($0.count)\n" }.joined())
        }
        let (hundredfold, overflow) = (shelves ?? 0).multipliedReportingOverflow(by: 100)
        let (shelves, products) = (shelves ?? max(1, (products ?? 0) / 100), products ?? hundredfold)
        guard !overflow, (1...1_000_000).contains(shelves), (shelves...20_000_000).contains(products) else {
            throw CommandFailure(
                "--shelves must be 1 to 1000000, --products at least as many and at most 20000000",
                CommandFailure.usage
            )
        }
        let start = ContinuousClock.now
        try await CatalogGenerator(shelves: shelves, products: products, seed: seed).run(catalog.pool) {
            Console.progress("\($0) products")
        }
        Console.endProgress()
        Console.note("generated \(products) products on \(shelves) shelves in \(ContinuousClock.now - start)")
    }
}

/// Fills a catalog with the small one of our own.
func seedOwnCatalog(_ catalog: PostgresCatalog) async throws -> ImportSummary {
    for (key, title, currency, pricing) in SeedData.stores {
        let key = CatalogKey(key)!
        if (try? await catalog.store(key)) != nil { continue }
        _ = try await catalog.put(
            Store(key: key, title: title, currency: Currency(currency)!, unitPricing: UnitPricing(rawValue: pricing)!)
        )
    }
    return try await Importer(catalog).run(SinglePiece(bytes: SeedData.products), ImportOptions(format: .csv))
}

/// The days of price changes of our own catalog, by store.
func seedStorms() throws -> [CatalogKey: [[PriceChange]]] {
    let currencies = Dictionary(uniqueKeysWithValues: SeedData.stores.map { (CatalogKey($0.0)!, Currency($0.2)!) })
    var reader = RowReader(.csv, columns: PricesCommand.columns, needed: PricesCommand.columns)
    var days: [CatalogKey: [String: [PriceChange]]] = [:]
    func take(_ event: RowReader.Event) throws {
        guard case .row(let row) = event, let store = row.text("store").flatMap({ CatalogKey($0) }),
            let price = currencies[store]?.minorUnits(ExactDecimal(try row.needed("price"))!)
        else { preconditionFailure("the prices that the program embeds are not right") }
        let change = PriceChange(sku: try row.sku(), priceMinor: price.minor)
        days[store, default: [:]][try row.needed("date"), default: []].append(change)
    }
    try SeedData.priceChanges.withUnsafeBytes { try reader.read($0, take) }
    try reader.end(take)
    return days.mapValues { days in days.sorted { $0.key < $1.key }.map(\.value) }
}
