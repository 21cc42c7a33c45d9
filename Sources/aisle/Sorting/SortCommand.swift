internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct SortCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "sort",
        abstract: "Print a shelf's products, sorted.",
        discussion: "Sort keys (prefix - for descending, separate several with commas):\n"
            + SortKey.allCases.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n")
            + "\n  the name of an attribute, such as rating; aisle attribute list shows them"
    )

    @Argument(help: "STORE/SHELF, or just SHELF if there is only one store.") var shelf: ShelfName
    @OptionGroup var database: DatabaseOptions
    @Option(parsing: .unconditional, help: "The sort, such as -unit_price,name; defaults to the shelf's sort.") var by:
        String?
    @OptionGroup(title: "Filters") var filters: FilterArguments
    @Option(help: "The user whose remembered sort and filter apply without --by.") var user: UserID?
    @Option(parsing: .unconditional, help: "The maximum number of products; all by default.") var limit: Int?
    @Option(help: "Print the rank of this product instead, or why it has none.") var why: String?
    @Flag(help: "Also show the products of all shelves below.") var descendants = false
    @Flag(inversion: .prefixedNo, help: "Whether to show one product for each group; by default, the shelf decides.")
    var collapse: Bool?
    @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?

    func execute() async throws {
        let sort = try by.map { text in
            try parseSort(text)
        }
        let filter = try filters.filter()
        if let limit, limit < 1 { throw CommandFailure("--limit must be 1 or more", CommandFailure.usage) }
        if why != nil, limit != nil {
            throw CommandFailure("--limit is for lists; leave it out with --why", CommandFailure.usage)
        }
        try await database.withCatalog { catalog in
            let (store, key) = try await shelf.resolve(catalog)
            var request = PageRequest(store: store, shelf: key, sort: sort, filter: filter, user: user)
            if descendants { request.includesDescendants = true }
            request.collapsesGroups = collapse
            if let why { return try await explain(why, request, catalog) }
            var products: [Product] = []
            var first: ShelfPage?
            repeat {
                request.limit = min(limit.map { $0 - products.count } ?? 100, 100)
                let page = try await catalog.pages.page(request)
                products += page.products
                request.after = page.next
                first = first ?? page
            } while request.after != nil && products.count < limit ?? .max
            guard let first else { return }
            show(products, first, .resolve(format))
            if Console.notesAreTerminal {
                if let ignored = first.plan.resolvedSort.ignored {
                    Console.note(
                        "the sort of the \(ignored.rawValue) is ignored: the store no longer has one of its attributes"
                    )
                }
                Console.note(
                    "\(products.count)\(Self.total(first)) products by \(first.plan.sort.description) (\(first.plan.source.rawValue))\(Self.describe(first.plan.resolvedSort.filter))"
                )
            }
        }
    }

    /// Prints the rank of a product with the values that are compared.
    private func explain(_ sku: String, _ request: PageRequest, _ catalog: PostgresCatalog) async throws {
        let found = try await catalog.pages.ranks(RankRequest(page: request, skus: [sku.composed]))
        let format = OutputFormat.resolve(format)
        if format == .json || format == .ndjson { return Console.line(String(decoding: found.json, as: UTF8.self)) }
        var table = Table(columns: [
            .init(title: "sku"), .init(title: "reason"), .init(title: "rank", isNumber: true),
            .init(title: "of", isNumber: true), .init(title: "before"), .init(title: "after"), .init(title: "filters"),
            .init(title: "tuple"),
        ])
        let presentation = ProductPresentation(store: found.basis.head.store)
        for rank in found.ranks {
            let tuple = found.tuple(of: rank, presentation).map { "\($0.key)=\($0.value.text)" }
            table.rows.append([
                rank.sku, rank.reason.rawValue, rank.rank.map { "\($0)" }, "\(found.count)", rank.before, rank.after,
                rank.filters.map(\.name).joined(separator: " "), tuple.joined(separator: " "),
            ])
        }
        table.print(format)
    }

    /// The number of products on the shelf; empty for several shelves, and for groups.
    private static func total(_ page: ShelfPage) -> String {
        page.plan.union == nil && !page.plan.collapsesGroups ? " of \(page.head.state.productCount)" : ""
    }

    private static func describe(_ filter: Filter) -> String {
        guard !filter.isEmpty else { return "" }
        return " where " + filter.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
    }

    private func show(_ products: [Product], _ page: ShelfPage, _ format: OutputFormat) {
        let store = page.head.store
        let presentation = ProductPresentation(store: store)
        if format == .json || format == .ndjson {
            var json = JSONWriter()
            if format == .json {
                json.array(products) { presentation.write($1, to: &$0) }
                return Console.data(json.text + "\n")
            }
            for product in products {
                var line = JSONWriter()
                presentation.write(product, to: &line)
                Console.data(line.text + "\n")
            }
            return
        }
        var table = Table(columns: [
            .init(title: "sku"), .init(title: "name"), .init(title: "brand"), .init(title: "price", isNumber: true),
            .init(title: "unit_price", isNumber: true), .init(title: "size", isNumber: true),
            .init(title: "popularity", isNumber: true),
            .init(title: "in_stock"),
        ])
        for product in products {
            let unitPrice = store.unitPricing.display(
                priceMinor: product.priceMinor,
                size: product.size,
                currency: store.currency
            )
            let size = product.size.map { ($0.packs > 1 ? "\($0.packs) × " : "") + "\($0.amount) \($0.unit.rawValue)" }
            table.rows.append([
                product.sku.text, product.name, product.brand,
                product.priceMinor.map { "\(store.currency.decimal($0)) \(store.currency.code)" },
                unitPrice.map { "\($0.value)/\($0.per)" }, size, "\(presentation.score(product.popularity))",
                product.inStock ? "yes" : "no",
            ])
        }
        table.print(format)
    }
}

/// Parses a sort from a command line argument.
func parseSort(_ text: String) throws(CatalogError) -> Sort {
    do { return try Sort.parse(text) } catch { throw .unknownSortKey(error) }
}
