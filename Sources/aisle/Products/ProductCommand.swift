internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import JSON

struct ProductCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "product",
        abstract: "List, show, change, place and delete products.",
        subcommands: [List.self, Show.self, Set.self, Place.self, RemoveFromShelf.self, Remove.self]
    )

    struct List: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a store's products by SKU, also those on no shelf.",
            discussion:
                "aisle sort prints the products of a shelf in an order, and aisle export those of a whole store as a file."
        )
        @Argument(help: "The store's key.") var store: StoreName
        @OptionGroup var database: DatabaseOptions
        @Option(
            help:
                "Only the products with this barcode, at most 100. Zeros before up to 14 digits do not matter."
        ) var barcode: String?
        @Option(parsing: .unconditional, help: "The maximum number of products; all by default.") var limit: Int?
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            if let limit, limit < 1 { throw CommandFailure("--limit must be 1 or more", CommandFailure.usage) }
            let code: Barcode? = if let barcode { try Barcode(barcode, parameter: "--barcode") } else { nil }
            try await database.withCatalog { catalog in
                let key = try await store.resolve(catalog)
                let format = OutputFormat.resolve(format)
                var listing = ProductListing(hasBarcodes: true)
                if let code {
                    let page = try await catalog.products.products(key, with: code)
                    return listing.print(Array(page.products.prefix(limit ?? .max)), of: page.store, format)
                }
                // A table and an array need all products, lines do not.
                let isWhole = format == .table || format == .json
                var (products, count, after): ([Product], Int, Cursor?) = ([], 0, nil)
                repeat {
                    let size = min(limit.map { $0 - count } ?? Self.batch, Self.batch)
                    let page = try await catalog.products.products(key, after: after, limit: size)
                    products += page.products
                    count += page.products.count
                    after = count < limit ?? .max ? page.next : nil
                    guard after == nil || !isWhole else { continue }
                    listing.print(products, of: page.store, format)
                    listing.isContinued = true
                    products = []
                } while after != nil
            }
        }

        /// The number of products that are read at once.
        private static let batch = 1000
    }

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a product with its attributes and shelves, as JSON.",
            discussion: """
                aisle product set --json merges JSON into a product: a member that is missing stays, and null removes it.
                """
        )
        @OptionGroup var product: ProductName
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let sku = try product.key
            try await database.withCatalog { catalog in
                let store = try await product.store.resolve(catalog)
                let placed = try await catalog.products.product(store, sku)
                Console.line(String(decoding: placed.json, as: UTF8.self))
            }
        }
    }

    struct Set: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a product, or change some of its fields.",
            discussion: """
                Fields without an option stay, and an empty value removes a field: --brand '' removes the brand. A new price also removes a \
                regular price up to that price, unless --regular-price sets one. Removing the price removes the regular price, too. A new \
                product needs a name, and is on no shelf until it is placed. With --json, the fields are those of the API: a member that is \
                missing stays, null removes it, and fields that the server computes are ignored.
                """
        )
        @OptionGroup var product: ProductName
        @OptionGroup var fields: ProductArguments
        @Option(
            name: .customLong("json"),
            help: ArgumentHelp(
                "The fields as a JSON merge patch in a file, or - for standard input.",
                valueName: "file"
            )
        ) var file: String?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let sku = try product.key
            guard fields.isEmpty != (file == nil) else {
                throw CommandFailure(
                    file == nil ? "specify a field, such as --price 1.99" : "leave out the other fields with --json",
                    CommandFailure.usage
                )
            }
            let document: JSONValue? = if let file { try Self.read(file) } else { nil }
            try await database.withCatalog { catalog in
                let key = try await product.store.resolve(catalog)
                let store = try await catalog.shelves.store(key)
                let attributes =
                    fields.attribute.isEmpty ? .none : try await catalog.attributes.attributes(of: .store(key))
                let patch = try document ?? fields.patch(in: store, attributes)
                let name = "product “\(sku)”"
                do {
                    let effect = try await catalog.products.update(sku, in: key) { old, now throws(CatalogError) in
                        try Self.product(sku, old, patch, in: now, pricedIn: store.currency)
                    }
                    switch effect {
                    case .created: Console.note("created \(name)")
                    case .changed: Console.note("changed \(name)")
                    case .unchanged: Console.note("\(name) is unchanged")
                    }
                } catch CatalogError.notFound(let missing) where missing == name {
                    throw CommandFailure(
                        "\(name) does not exist in store “\(key)”; to create it, give it a name",
                        CommandFailure.noInput
                    )
                } catch let error as CatalogError {
                    throw Self.failure(error, file)
                }
            }
        }

        /// Returns an error with the file or the option that it is about.
        private static func failure(_ error: CatalogError, _ file: String?) -> CommandFailure {
            let failure = CommandFailure(error)
            let member: String
            switch error {
            case .malformed(let parameter, _, _, _): member = parameter ?? ""
            case .unprocessable(let field, _): member = field
            default: return failure
            }
            if let file { return CommandFailure("\(file): \(failure.message)", CommandFailure.badData) }
            return CommandFailure(ProductArguments.message(failure.message, about: member), CommandFailure.usage)
        }

        /// Returns the product after a merge patch.
        ///
        /// - Parameters:
        ///   - stored: nil for a new product, which needs a name.
        ///   - currency: the currency of the prices in the patch.
        private static func product(
            _ sku: SKU,
            _ stored: Product?,
            _ patch: JSONValue,
            in store: Store,
            pricedIn currency: Currency
        ) throws(CatalogError) -> Product {
            guard store.currency == currency else { throw .currencyChanged(store) }
            if let stored { return try stored.merging(patch, in: store) }
            guard patch["name"] != nil else { throw .notFound("product “\(sku)”") }
            return try Product(sku: sku, currency: currency, body: JSONValue.object([]).merging(patch))
        }

        /// The maximum length of a file in bytes.
        private static let fileLimit = 1 << 18

        /// Reads a merge patch from a file.
        private static func read(_ path: String) throws -> JSONValue {
            let text = try InputFile.contents(path, of: "a product", upTo: fileLimit)
            let patch: JSONValue
            do { patch = try JSONReader.parse(text) } catch {
                throw CommandFailure(
                    "\(path): invalid JSON at byte \(error.offset): \(error.detail)",
                    CommandFailure.badData
                )
            }
            guard case .object = patch else {
                throw CommandFailure("\(path): a product must be a JSON object", CommandFailure.badData)
            }
            return patch
        }
    }

    struct Place: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Place a product on a shelf: at the end of the manual order, or where it was before it was removed."
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var product: ProductSKU
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let sku = try product.key
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.resolve(catalog)
                let isNew = try await catalog.products.place(sku, on: key, in: store)
                Console.note("product “\(sku)” \(isNew ? "is now" : "was already") on shelf \(store)/\(key)")
            }
        }
    }

    struct RemoveFromShelf: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-from-shelf",
            abstract: "Remove a product from a shelf; it stays in the store."
        )
        @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
        @OptionGroup var product: ProductSKU
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            let sku = try product.key
            try await database.withCatalog { catalog in
                let (store, key) = try await shelf.resolve(catalog)
                try await catalog.products.unplace(sku, from: key, in: store)
                Console.note("removed product “\(sku)” from shelf \(store)/\(key)")
            }
        }
    }

    struct Remove: AisleCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm",
            abstract: "Delete a product, and remove it from all shelves."
        )
        @OptionGroup var product: ProductName
        @OptionGroup var database: DatabaseOptions
        @Flag(help: "Do not ask.") var yes = false
        func execute() async throws {
            let sku = try product.key
            try await database.withCatalog { catalog in
                let store = try await product.store.resolve(catalog)
                let placed = try await catalog.products.product(store, sku)
                let question =
                    "delete product “\(sku)”, “\(placed.product.name)”, which is on \(Self.count(of: placed.shelves))?"
                guard yes || Console.confirm(question) else {
                    throw CommandFailure("nothing was deleted; confirm with --yes", CommandFailure.usage)
                }
                try await catalog.products.remove(product: sku, from: store)
                Console.note("deleted product “\(sku)”")
            }
        }

        private static func count(of shelves: [CatalogKey]) -> String {
            switch shelves.count {
            case 0: "no shelf"
            case 1: "1 shelf"
            case let count: "\(count) shelves"
            }
        }
    }
}

/// The store and the SKU of a product as arguments.
struct ProductName: ParsableArguments {
    @Argument(help: "The store's key.") var store: StoreName
    @OptionGroup var product: ProductSKU

    /// The SKU.
    ///
    /// - Throws: `CommandFailure` if it is not one.
    var key: SKU { get throws { try product.key } }
}

/// The SKU of a product as an argument.
struct ProductSKU: ParsableArguments {
    @Argument(help: "The SKU of the product.") var sku: String

    /// The SKU.
    ///
    /// - Throws: `CommandFailure` if it is not one.
    var key: SKU {
        get throws {
            guard let key = SKU(sku) else {
                throw CommandFailure("a SKU must be \(SKU.rule) (got “\(sku)”)", CommandFailure.usage)
            }
            return key
        }
    }
}
