internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "List, show, create and delete stores.",
        subcommands: [List.self, Show.self, Create.self, Remove.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List the stores.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            try await database.withCatalog { catalog in
                var table = Table(columns: [
                    .init(title: "key"), .init(title: "title"), .init(title: "currency"), .init(title: "unit_pricing"),
                    .init(title: "sold_out"), .init(title: "default_sort"),
                ])
                for store in try await catalog.shelves.stores() {
                    table.rows.append([
                        store.key.text, store.title, store.currency.code, store.unitPricing.rawValue,
                        store.soldOut.rawValue,
                        store.defaultSort?.description,
                    ])
                }
                table.print(.resolve(format))
            }
        }
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Show a store, as JSON.")
        @Argument(help: "The store's key.") var key: StoreName
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                let key = try await key.resolve(catalog)
                var json = JSONWriter()
                try await catalog.shelves.store(key).write(to: &json)
                Console.line(json.text)
            }
        }
    }

    struct Create: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Create a store.")
        @Argument(help: "The store's key.") var key: StoreName
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The store's title.") var title: String?
        @Option(help: "The currency, an ISO 4217 code.") var currency: String
        @Option(help: "The store's language and region, for dates and money on the pages: a BCP 47 tag such as en-IE.")
        var locale = Store.defaultLocale
        @Option(
            help:
                "The language by whose rules names are ordered: a BCP 47 tag, or root. By default, that of the locale."
        )
        var collation: String?
        @Option(help: "The rules for unit prices: eu, se, gb, au or us.") var unitPricing = "eu"
        func execute() async throws {
            let key = try key.key
            guard let currency = Currency(currency) else {
                throw CommandFailure("“\(currency)” is not an ISO 4217 code", CommandFailure.usage)
            }
            guard let pricing = UnitPricing(rawValue: unitPricing) else {
                throw CommandFailure("--unit-pricing must be eu, se, gb, au or us", CommandFailure.usage)
            }
            for tag in [locale, collation].compactMap({ $0 }) where !Store.isLanguageTag(tag) {
                throw CommandFailure("“\(tag)” is not a BCP 47 language tag, such as en-IE", CommandFailure.usage)
            }
            try await database.withCatalog { catalog in
                if try await catalog.shelves.storeIfExists(key) != nil {
                    throw CommandFailure("store “\(key)” already exists", CommandFailure.badData)
                }
                _ = try await catalog.shelves.put(
                    Store(
                        key: key,
                        title: title ?? key.text,
                        currency: currency,
                        locale: locale,
                        collation: collation,
                        unitPricing: pricing
                    )
                )
                Console.note("created store \(key)")
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm",
            abstract: "Delete a store with its products, shelves, orders and purchases.",
            discussion: """
                Users keep their settings and lists, and the store's audit log stays. If the store is created again, it starts empty.
                """
        )
        @Argument(help: "The store's key.") var key: StoreName
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Do not ask.") var yes = false
        func execute() async throws {
            try await database.withCatalog { catalog in
                let key = try await key.resolve(catalog)
                let store = try await catalog.shelves.store(key)
                let question =
                    "delete store \(key), “\(store.title)”, with its products, shelves, orders and purchases?"
                guard yes || Console.confirm(question) else {
                    throw CommandFailure("nothing was deleted; confirm with --yes", CommandFailure.usage)
                }
                let products = try await catalog.shelves.remove(store: key)
                Console.note("deleted store \(key); products: \(products)")
            }
        }
    }
}
