internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "List, show and make stores.",
        subcommands: [List.self, Show.self, Create.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List the stores.")
        @OptionGroup var database: DatabaseOptions
        @Option(help: "table, tsv, json, ndjson or csv.") var format: OutputFormat?
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            var table = Table(columns: [
                .init(title: "key"), .init(title: "title"), .init(title: "currency"), .init(title: "unit_pricing"),
                .init(title: "sold_out"), .init(title: "default_sort"),
            ])
            for store in try await catalog.stores() {
                table.rows.append([
                    store.key.text, store.title, store.currency.code, store.unitPricing.rawValue,
                    store.soldOut.rawValue,
                    store.defaultSort?.description,
                ])
            }
            table.print(.chosen(format))
        }
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Show a store, as JSON.")
        @Argument(help: "The store's key.") var key: String
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            let key = try storeKey(key)
            var json = JSONText()
            try await catalog.store(key).write(to: &json)
            print(json.text)
        }
    }

    struct Create: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Make a store.")
        @Argument(help: "The store's key.") var key: String
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The store's title.") var title: String?
        @Option(help: "Its currency, as an ISO 4217 code.") var currency: String
        @Option(help: "Its rules of unit prices: eu, se, gb, au or us.") var unitPricing = "eu"
        func execute() async throws {
            let key = try storeKey(key)
            guard let currency = Currency(currency) else {
                throw CommandFailure("“\(currency)” is no ISO 4217 code", CommandFailure.usage)
            }
            guard let pricing = UnitPricing(rawValue: unitPricing) else {
                throw CommandFailure("--unit-pricing is eu, se, gb, au or us", CommandFailure.usage)
            }
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            if (try? await catalog.store(key)) != nil {
                throw CommandFailure("store “\(key)” exists", CommandFailure.badData)
            }
            _ = try await catalog.put(
                Store(key: key, title: title ?? key.text, currency: currency, unitPricing: pricing)
            )
            Console.note("made store \(key)")
        }
    }
}

struct ShelfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shelf",
        abstract: "List, show, make and delete shelves.",
        subcommands: [List.self, Show.self, Create.self, Remove.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List a store's shelves, or those of all stores.")
        @Argument(help: "The store's key.") var store: String?
        @OptionGroup var database: DatabaseOptions
        @Option(help: "table, tsv, json, ndjson or csv.") var format: OutputFormat?
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            var stores = try await catalog.stores().map(\.key)
            if let store {
                let key = try storeKey(store)
                stores = [try await catalog.store(key).key]
            }
            var table = Table(columns: [
                .init(title: "shelf"), .init(title: "title"), .init(title: "products", isNumber: true),
                .init(title: "default_sort"),
                .init(title: "dimension"), .init(title: "version", isNumber: true),
            ])
            for store in stores {
                var request = ShelvesRequest(store: store)
                repeat {
                    let page = try await catalog.shelves(request)
                    for state in page.shelves {
                        table.rows.append([
                            "\(store)/\(state.shelf.key)", state.shelf.title, String(state.productCount),
                            state.shelf.defaultSort?.description, state.comparisonDimension.rawValue,
                            String(state.version),
                        ])
                    }
                    request.after = page.next
                } while request.after != nil
            }
            table.print(.chosen(format))
        }
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Show a shelf, as JSON.")
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            let (store, key) = try await shelf.resolve(catalog)
            let head = try await catalog.shelf(store, key)
            var json = JSONText()
            head.state.write(
                options: SortOption.options(selected: head.settle().sort, language: .en),
                to: &json
            )
            print(json.text)
        }
    }

    struct Create: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Make a shelf.")
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The shelf's title.") var title: String?
        @Option(help: "The shelf under which it stands.") var parent: String?
        @Option(parsing: .unconditional, help: "Its default sort.") var defaultSort: String?
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            let (store, key) = try await shelf.resolve(catalog)
            if (try? await catalog.shelf(store, key)) != nil {
                throw CommandFailure("shelf “\(key)” exists", CommandFailure.badData)
            }
            let sort = try defaultSort.map { text in
                try parseSort(text)
            }
            let parentKey = try parent.map { text in
                guard let key = CatalogKey(text) else {
                    throw CommandFailure("a shelf's key is \(CatalogKey.rule)", CommandFailure.usage)
                }
                return key
            }
            _ = try await catalog.put(
                Shelf(key: key, title: title ?? key.text, parent: parentKey, defaultSort: sort),
                in: store
            )
            Console.note("made shelf \(store)/\(key)")
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm",
            abstract: "Delete a shelf; its products stay."
        )
        @Argument(help: "STORE/SHELF.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let catalog = try await database.catalog()
            defer { catalog.shutDown() }
            let (store, key) = try await shelf.resolve(catalog)
            try await catalog.remove(shelf: key, from: store)
            Console.note("deleted shelf \(store)/\(key)")
        }
    }
}
