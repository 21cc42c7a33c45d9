internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export products or an order.",
        subcommands: [Products.self, Order.self]
    )

    struct Products: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Export the products of one store, or of all stores, as a CSV file for import."
        )
        @Argument(help: "The store's key; all stores by default.") var store: StoreName?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            try await database.withCatalog { catalog in
                let key = try await store?.resolve(catalog)
                try await CatalogExport(catalog.database).run(of: key) { Console.data($0) }
            }
        }
    }

    struct Order: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "Print the ids of a shelf in order, one per line.")
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var database: DatabaseOptions
        @Option(parsing: .unconditional, help: "The sort; the manual order by default.") var by = "position"
        func execute() async throws {
            let sort = try parseSort(by)
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.resolve(catalog)
                let ids = try await catalog.pages.order(store, key, sort).ids
                Console.data(ids.map { $0 + "\n" }.joined())
            }
        }
    }
}
