internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import CatalogJSON
internal import CatalogPostgres

struct PurchasesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchases",
        abstract: "Import purchases and anonymize customers.",
        subcommands: [Import.self, Anonymize.self]
    )

    struct Import: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import purchases from a CSV or NDJSON file; aisle resort counts them.",
            discussion: """
                Columns: store, \(Purchase.columns.joined(separator: ", ")). An event counts once, by its event_id: a partially \
                imported file can simply be imported again. A negative quantity is a refund.
                """
        )
        @Argument(help: "The file, or - for standard input.") var file: String
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The store of all rows if the file has no store column.") var store: StoreName?
        @OptionGroup(title: "File Options") var fileArguments: FileArguments

        /// The number of events per batch.
        private static let batchSize = 50_000

        func execute() async throws {
            let fallback = try store?.key
            var file = try RowFile(
                file,
                fileArguments,
                columns: ["store"] + Purchase.columns,
                required: ["event_id", "sku", "quantity", "at"] + (fallback == nil ? ["store"] : [])
            )
            try await database.withCatalog { catalog in
                _ = try await store?.resolve(catalog)
                let stores = Swift.Set(try await catalog.shelves.stores().map(\.key))
                let start = ContinuousClock.now
                var outcome = PurchaseOutcome()
                var (read, waiting) = (0, [CatalogKey: [Purchase]]())
                func sendAll() async throws {
                    for store in waiting.keys.sorted(by: { $0.text < $1.text }) {
                        outcome += try await catalog.purchases.add(waiting[store]!, to: store)
                    }
                    waiting = [:]
                    Console.progress("\(read) events")
                }
                let (now, rejections) = (Timestamp.now(), file.rejections)
                func add(_ rows: [NamedRow]) throws {
                    for row in rows {
                        read += 1
                        do throws(ImportRejection) {
                            let store = try Self.store(row, fallback, stores)
                            waiting[store, default: []].append(try Purchase(row, now: now))
                        } catch {
                            try rejections.add(error)
                        }
                    }
                }
                try await file.check(
                    { rows in
                        try add(rows)
                        waiting = [:]
                    },
                    atEnd: {}
                )
                read = 0
                try await file.read { rows in
                    try add(rows)
                    if waiting.values.reduce(0, { $0 + $1.count }) >= Self.batchSize { try await sendAll() }
                }
                try await sendAll()
                Console.endProgress()
                let counts = [
                    ("read", file.read), ("accepted", outcome.accepted), ("repeated", outcome.repeated),
                    ("too_old", outcome.tooOld), ("unknown", outcome.unknown), ("rejected", file.rejections.count),
                ]
                Console.data(counts.map { "\($0.0)\t\($0.1)\n" }.joined())
                try file.report(counts.map { ($0.0, $0.1) })
                if !outcome.unknownSKUs.isEmpty {
                    let some = outcome.unknownSKUs.sorted().prefix(10).joined(separator: " ")
                    Console.note(
                        "stored separately until these products exist: \(some)\(outcome.unknownSKUs.count > 10 ? " …" : "")"
                    )
                }
                Console.note(
                    "imported \(outcome.accepted) events in \(Console.seconds(since: start)) s; run aisle resort to count them"
                )
            }
        }

        private static func store(
            _ row: NamedRow,
            _ fallback: CatalogKey?,
            _ stores: Swift.Set<CatalogKey>
        ) throws(ImportRejection) -> CatalogKey {
            guard let text = row.text("store") else {
                guard let fallback else { throw row.reject("store", "is missing") }
                return fallback
            }
            guard let key = CatalogKey(text), stores.contains(key) else {
                throw row.reject("store", "is not an existing store")
            }
            return key
        }
    }

    struct Anonymize: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Anonymize a customer's purchases; their counts stay."
        )
        @Option(help: "The id under which the purchases were reported.") var customer: String
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            guard !customer.trimmed.isEmpty else {
                throw CommandFailure("--customer must not be empty", CommandFailure.usage)
            }
            try await database.withCatalog { catalog in
                Console.note("anonymized \(try await catalog.anonymize(customer: customer)) rows")
            }
        }
    }
}
