internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres

struct SortCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "sort",
        abstract: "Print a shelf's products, sorted.",
        discussion:
            "Sort keys are the names of declared attributes, which aisle attribute list shows, and those below. "
            + "Prefix - for descending, and separate several with commas:\n"
            + SortKey.allCases.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n")
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
            if let why { return try await RankListing.print(why, request, .resolve(format), catalog) }
            let (products, first) = try await catalog.pages.products(request, limit: limit)
            ProductListing().print(products, of: first.head.store, .resolve(format))
            if Console.notesAreTerminal {
                if let ignored = first.plan.resolvedSort.ignored {
                    Console.note(
                        "the sort of the \(ignored.rawValue) is ignored: the store no longer has one of its attributes"
                    )
                }
                let things = first.plan.collapsesGroups ? "groups" : "products"
                Console.note(
                    "\(products.count)\(Self.total(first)) \(things) by \(first.plan.sort.description) (\(first.plan.source.rawValue))\(first.plan.resolvedSort.filter.phrase)"
                )
            }
        }
    }

    /// The number of products on the shelf; empty for several shelves, and for groups.
    private static func total(_ page: ShelfPage) -> String {
        page.plan.union == nil && !page.plan.collapsesGroups ? " of \(page.head.state.productCount)" : ""
    }
}

extension PageStore {
    /// Returns the first products of an order, and the first page of them.
    ///
    /// - Parameter limit: the maximum number of products; nil for all.
    func products(
        _ request: PageRequest,
        limit: Int?
    ) async throws(CatalogError) -> (products: [Product], first: ShelfPage) {
        func read(_ count: Int, after cursor: Cursor?) async throws(CatalogError) -> ShelfPage {
            var request = request
            request.limit = min(limit.map { $0 - count } ?? Self.batch, Self.batch)
            request.after = cursor
            return try await page(request)
        }
        let first = try await read(0, after: nil)
        var (products, next) = (first.products, first.next)
        while let cursor = next, products.count < limit ?? .max {
            let page = try await read(products.count, after: cursor)
            products += page.products
            next = page.next
        }
        return (products, first)
    }

    /// The number of products that are read at once.
    private static var batch: Int { PageRequest.limits.upperBound }
}

extension Filter {
    /// The filter as the end of a sentence; empty without one.
    var phrase: String {
        isEmpty ? "" : " where " + parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
    }
}

/// Parses a sort from a command line argument.
///
/// - Parameter allowsRelevance: whether it may be the relevance of a search.
func parseSort(_ text: String, allowsRelevance: Bool = false) throws(CatalogError) -> Sort {
    do { return try Sort.parse(text, allowsRelevance: allowsRelevance) } catch { throw .unknownSortKey(error) }
}
