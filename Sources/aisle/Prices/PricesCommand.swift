internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import CatalogJSON
internal import CatalogPostgres

struct PricesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prices",
        abstract: "Set prices in bulk, or replay a file with several days.",
        subcommands: [Set.self, Import.self]
    )

    /// The columns of a file of price changes.
    static let columns = ["date", "store", "sku", "price"]

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set prices, all or none.",
            discussion: "A price is a decimal such as 1.99; “none” removes it."
        )
        @Argument(help: "SKU=PRICE …") var prices: [String]
        @Option(help: "The store's key.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions

        func execute() async throws {
            try await database.withCatalog { catalog in
                let found = try await StoreName.resolve(store, catalog)
                let currency = try await catalog.shelves.store(found).currency
                let changes = try prices.map { pair in
                    // A SKU may itself contain “=”.
                    let sign = pair.lastIndex(of: "=") ?? pair.endIndex
                    let halves = [String(pair[..<sign]), String(pair[sign...].dropFirst())]
                    guard sign < pair.endIndex, let sku = SKU(halves[0].composed) else {
                        throw CommandFailure("prices must be SKU=PRICE (got “\(pair)”)", CommandFailure.usage)
                    }
                    let minor = halves[1] == "none" ? nil : try parsePrice(halves[1], in: currency)
                    return PriceChange(sku: sku, priceMinor: minor)
                }
                let outcome = try await catalog.prices.setPrices(changes, in: found, pricedIn: currency)
                Console.note(
                    "changed \(outcome.changed), unchanged \(outcome.unchanged), shelves \(outcome.shelves.count)"
                )
            }
        }
    }

    struct Import: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Apply one day's price changes, in one transaction per store, or several days with --replay.",
            discussion: """
                Columns: date, store, sku, price. A file with several days requires --replay, which applies them in sequence; its days \
                must be in ascending order. Prices of days in the future are counted, not applied. If a product occurs twice on one day, its last price counts; \
                “none” removes a price.
                """
        )
        @Argument(help: "The file, or - for standard input.") var file: String
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The store of all rows if the file has no store column.") var store: StoreName?
        @OptionGroup(title: "File Options") var fileArguments: FileArguments
        @Flag(help: "Apply several days in sequence, and report the moves on each shelf.") var replay = false
        @Option(help: "With --replay: the sorts whose moves are reported, separated by semicolons.") var sorts = "price"

        func execute() async throws {
            let fallback = try store?.key
            let sorts = replay ? try sorts.split(separator: ";").map { try parseSort(String($0)) } : []
            var file = try RowFile(
                file,
                fileArguments,
                columns: PricesCommand.columns,
                required: ["sku", "price"] + (replay ? ["date"] : []) + (fallback == nil ? ["store"] : [])
            )
            try await database.withCatalog { catalog in
                _ = try await store?.resolve(catalog)
                let start = ContinuousClock.now
                let (rejections, today) = (file.rejections, Timestamp.now().day)
                func play(_ rows: [NamedRow], _ storm: inout PriceStorm) async throws {
                    for row in rows {
                        let date = row.text("date")
                        guard let day = Self.day(date), date != nil || !replay else {
                            try rejections.add(row.reject("date", "is not a date such as 2026-03-01"))
                            continue
                        }
                        guard day <= today else {
                            storm.future += 1
                            continue
                        }
                        if storm.isAnotherDay(date) {
                            guard replay else {
                                throw CommandFailure(
                                    "line \(row.line): the file has several days; use --replay to apply them in sequence",
                                    CommandFailure.badData
                                )
                            }
                            try await storm.apply()
                        }
                        try await storm.add(row, date)
                    }
                }
                var check = PriceStorm(catalog, sorts, fallback, rejections, isCheck: true)
                try await file.check({ try await play($0, &check) }, atEnd: { try await check.apply() })
                if replay { Console.data("date\tshelf\tsort\tproducts\tmoved\n") }
                var storm = PriceStorm(catalog, sorts, fallback, rejections, isCheck: false)
                try await file.read { try await play($0, &storm) }
                try await storm.apply()
                Console.endProgress()
                let counts = [
                    ("days", storm.days), ("changed", storm.changed), ("unchanged", storm.unchanged),
                    ("rounded", storm.rounded), ("prices_future", storm.future), ("rejected", rejections.count),
                ]
                try file.report([("read", file.read)] + counts.map { ($0.0, $0.1) })
                let summary = counts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
                Console.note("\(summary) in \(Console.seconds(since: start)) s")
                if replay { Console.note(storm.distribution) }
            }
        }

        /// Returns the UTC day of a date; nil for an invalid one, and the first day for none.
        private static func day(_ date: String?) -> Int? {
            guard let date else { return .min }
            return date.utf8.count == 10 ? Timestamp(rfc3339: date + "T00:00:00Z")?.day : nil
        }
    }
}

/// The replay of price changes, day by day.
struct PriceStorm {
    private let catalog: PostgresCatalog
    private let sorts: [Sort]
    private let fallback: CatalogKey?
    private var currencies: [CatalogKey: Currency] = [:]
    private var replays: [CatalogKey: PriceReplay] = [:]
    private var pending: [CatalogKey: [SKU: (row: NamedRow, change: PriceChange)]] = [:]
    private var date: String?
    private var isEmpty = true
    private var moved: [Int] = []
    private let rejections: Rejections
    private(set) var days = 0
    private(set) var changed = 0
    private(set) var unchanged = 0
    private(set) var rounded = 0
    /// The number of prices of days in the future.
    var future = 0
    /// Whether days are only checked, not applied.
    private let isCheck: Bool

    init(
        _ catalog: PostgresCatalog,
        _ sorts: [Sort],
        _ fallback: CatalogKey?,
        _ rejections: Rejections,
        isCheck: Bool
    ) {
        self.isCheck = isCheck
        self.rejections = rejections
        self.catalog = catalog
        self.sorts = sorts
        self.fallback = fallback
    }

    func isAnotherDay(_ date: String?) -> Bool { !isEmpty && date != self.date }

    mutating func add(_ row: NamedRow, _ date: String?) async throws {
        if let last = self.date, let date, date < last {
            throw CommandFailure(
                "line \(row.line): \(date) comes after \(last); sort the file by date",
                CommandFailure.badData
            )
        }
        do {
            guard let store = row.text("store").map({ CatalogKey($0) }) ?? fallback else {
                throw row.reject("store", "is not a store key")
            }
            guard let currency = try await currency(of: store) else {
                throw row.reject("store", "is not an existing store")
            }
            let sku = try row.sku()
            var minor: Int64?
            if try row.required("price") != "none" {
                guard let price = currency.minorUnits(try row.price("price", in: currency).withoutBinaryNoise) else {
                    throw row.reject("price", "must be a price such as 1.99, 0 or more, or “none”")
                }
                minor = price.minor
                rounded += price.wasRounded ? 1 : 0
            }
            let change = PriceChange(sku: sku, priceMinor: minor)
            if isCheck, let known = pending[store]?[sku], known.change != change {
                Console.note(
                    "warning: lines \(known.row.line) and \(row.line): two prices for “\(sku)” of \(store); the last one counts"
                )
            }
            pending[store, default: [:]][sku] = (row, change)
            self.date = date
            isEmpty = false
        } catch let rejection as ImportRejection {
            try rejections.add(rejection)
        }
    }

    /// Returns the currency of a store; nil if the store does not exist.
    private mutating func currency(of store: CatalogKey) async throws -> Currency? {
        if currencies.isEmpty {
            let stores = try await catalog.shelves.stores().map { ($0.key, $0.currency) }
            currencies = Dictionary(uniqueKeysWithValues: stores)
        }
        return currencies[store]
    }

    /// Applies the day, in one transaction per store.
    mutating func apply() async throws {
        guard !isEmpty else { return }
        for store in pending.keys.sorted(by: { $0.text < $1.text }) {
            let rows = pending[store]!
            let known = try await catalog.known(Array(rows.keys), in: store)
            for (sku, row) in rows where !known.contains(sku) {
                try rejections.add(row.row.reject("sku", "is not a product of \(store)"))
            }
            if isCheck { continue }
            let changes = rows.filter { known.contains($0.key) }.map(\.value.change).sorted {
                $0.sku.text < $1.sku.text
            }
            var replay = replays[store] ?? PriceReplay(catalog.storage, store: store, sorts: sorts)
            let (outcome, steps) = try await replay.play(changes, pricedIn: currencies[store])
            replays[store] = replay
            changed += outcome.changed
            unchanged += outcome.unchanged
            for step in steps {
                moved.append(step.moved)
                Console.data(
                    "\(date ?? "")\t\(store)/\(step.shelf)\t\(step.sort)\t\(step.new.count)\t\(step.moved)\n"
                )
            }
        }
        days += 1
        Console.progress(isCheck ? "\(date ?? "") checked" : "\(date ?? "") \(changed) prices")
        pending = [:]
        isEmpty = true
    }

    /// A summary of the moves per shelf and day.
    var distribution: String { Self.distribution(of: moved) }

    static func distribution(of moved: [Int]) -> String {
        let sorted = moved.sorted()
        guard !sorted.isEmpty else { return "nothing moved" }
        let (median, high) = (sorted[sorted.count / 2], sorted[min(sorted.count - 1, sorted.count * 95 / 100)])
        return "moves per shelf and day: median \(median), 95th percentile \(high), maximum \(sorted.last!)"
    }
}

/// Parses a price from a command line argument, in minor units.
func parsePrice(_ text: String, in currency: Currency) throws(CommandFailure) -> Int64 {
    guard let amount = ExactDecimal(text), let price = currency.minorUnits(amount), !price.wasRounded else {
        throw CommandFailure("“\(text)” is not a valid price in \(currency.code), such as 1.99", CommandFailure.usage)
    }
    return price.minor
}
