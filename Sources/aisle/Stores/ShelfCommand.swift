internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct ShelfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shelf",
        abstract: "List, show, create and delete shelves.",
        subcommands: [List.self, Show.self, Create.self, Remove.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List a store's shelves, or those of all stores.")
        @Argument(help: "The store's key.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            try await database.withCatalog { catalog in
                let stores =
                    if let store { [try await store.resolve(catalog)] } else {
                        try await catalog.shelves.stores().map(\.key)
                    }
                var table = Table(columns: [
                    .init(title: "shelf"), .init(title: "title"), .init(title: "products", isNumber: true),
                    .init(title: "default_sort"),
                    .init(title: "dimension"), .init(title: "version", isNumber: true),
                ])
                for store in stores {
                    var request = ShelvesRequest(store: store)
                    repeat {
                        let page = try await catalog.shelves.shelves(request)
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
                table.print(.resolve(format))
            }
        }
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Show a shelf, as JSON.")
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.resolve(catalog)
                let head = try await catalog.shelves.shelf(store, key)
                let attributes = PickerAttributes(
                    try await catalog.attributes.titledAttributes(of: head),
                    languages: [Language.en.rawValue]
                )
                let selected = try head.resolve(attributes: attributes.resolved).sort
                var json = JSONWriter()
                head.state.write(
                    options: SortOption.options(selected: selected, language: .en, attributes: attributes),
                    to: &json
                )
                Console.line(json.text)
            }
        }
    }

    struct Create: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Create a shelf.")
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        @Option(help: "The shelf's title.") var title: String?
        @Option(help: "The parent shelf.") var parent: String?
        @Option(parsing: .unconditional, help: "Its default sort.") var defaultSort: String?
        func execute() async throws {
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.address(catalog)
                if try await catalog.shelves.shelfIfExists(store, key) != nil {
                    throw CommandFailure("shelf “\(key)” already exists", CommandFailure.badData)
                }
                let sort = try defaultSort.map { text in
                    try parseSort(text)
                }
                let parentKey = try parent.map { text in
                    guard let key = CatalogKey(text) else {
                        throw CommandFailure("--parent must be \(CatalogKey.rule)", CommandFailure.usage)
                    }
                    return key
                }
                _ = try await catalog.shelves.put(
                    Shelf(key: key, title: title ?? key.text, parent: parentKey, defaultSort: sort),
                    in: store
                )
                Console.note("created shelf \(store)/\(key)")
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm",
            abstract: "Delete a shelf; its products are kept."
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.resolve(catalog)
                try await catalog.shelves.remove(shelf: key, from: store)
                Console.note("deleted shelf \(store)/\(key)")
            }
        }
    }
}
