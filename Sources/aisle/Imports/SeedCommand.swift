internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import CatalogJSON
internal import CatalogPostgres
internal import LibPQ
internal import SeedData

struct SeedCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed",
        abstract: "Fill the catalog with the sample data, or with a large generated catalog."
    )

    private static let shelfLimit = 1_000_000
    private static let productLimit = 20_000_000

    @OptionGroup var database: DatabaseOptions
    @Option(parsing: .unconditional, help: "The number of shelves to generate.") var shelves: Int?
    @Option(parsing: .unconditional, help: "The number of products to generate.") var products: Int?
    @Option(parsing: .unconditional, help: "The generator's seed; the same seed generates the same catalog.") var seed:
        UInt64 = 7

    func execute() async throws {
        try await database.withCatalog { catalog in
            guard shelves != nil || products != nil else {
                let summary = try await seedSampleCatalog(catalog)
                return Console.data(summary.counts.prefix(5).map { "\($0.name)\t\($0.count)\n" }.joined())
            }
            let (hundredfold, overflow) = (shelves ?? 0).multipliedReportingOverflow(by: 100)
            let (shelves, products) = (shelves ?? max(1, (products ?? 0) / 100), products ?? hundredfold)
            guard !overflow, shelves >= 1, shelves <= Self.shelfLimit,
                products >= shelves, products <= Self.productLimit
            else {
                throw CommandFailure(
                    "--shelves must be between 1 and \(Self.shelfLimit), and --products between --shelves and \(Self.productLimit)",
                    CommandFailure.usage
                )
            }
            let start = ContinuousClock.now
            try await CatalogGenerator(shelves: shelves, products: products, seed: seed).run(
                catalog.database.writes.pool
            ) {
                Console.progress("\($0) products")
            }
            Console.endProgress()
            Console.note("generated \(products) products on \(shelves) shelves in \(ContinuousClock.now - start)")
        }
    }
}

/// Fills a catalog with the sample data.
func seedSampleCatalog(_ catalog: PostgresCatalog) async throws -> ImportSummary {
    for (key, title, currency, locale, pricing) in SeedData.stores {
        let key = CatalogKey(key)!
        if try await catalog.shelves.storeIfExists(key) != nil { continue }
        _ = try await catalog.shelves.put(
            Store(
                key: key,
                title: title,
                currency: Currency(currency)!,
                locale: locale,
                unitPricing: UnitPricing(rawValue: pricing)!
            )
        )
    }
    return try await Importer(catalog).importFile(SingleChunk(bytes: SeedData.products), ImportOptions(format: .csv))
}

/// Returns the sample data's price changes by store and day.
func seedStorms() throws -> [CatalogKey: [[PriceChange]]] {
    let currencies = Dictionary(uniqueKeysWithValues: SeedData.stores.map { (CatalogKey($0.0)!, Currency($0.2)!) })
    var reader = NamedRowReader(.csv, columns: PricesCommand.columns, required: PricesCommand.columns)
    var days: [CatalogKey: [String: [PriceChange]]] = [:]
    func handle(_ event: NamedRowReader.Event) throws {
        guard case .row(let row) = event, let store = row.text("store").flatMap({ CatalogKey($0) }),
            let price = currencies[store]?.minorUnits(ExactDecimal(try row.required("price"))!)
        else { preconditionFailure("invalid embedded price data") }
        let change = PriceChange(sku: try row.sku(), priceMinor: price.minor)
        days[store, default: [:]][try row.required("date"), default: []].append(change)
    }
    try SeedData.priceChanges.withUnsafeBytes { try reader.read($0, handle) }
    try reader.end(handle)
    return days.mapValues { days in days.sorted { $0.key < $1.key }.map(\.value) }
}
