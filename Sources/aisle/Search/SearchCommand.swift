internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct SearchCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Print the products that a search finds, the most relevant ones first.",
        discussion: """
            The search is the one of the API, in all shelves of a store or on one. With --format json, the output also has the class in use, \
            the words that find nothing and the correction.
            """
    )

    @Argument(help: "The store's key.") var store: StoreName
    @Argument(help: "The words. A product must have all of them, in any order.") var words: [String]
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Search this shelf alone.") var shelf: CatalogKey?
    @Flag(help: "With --shelf: also search all shelves below it.") var descendants = false
    @Option(parsing: .unconditional, help: "The sort, such as price; defaults to -relevance.") var by: String?
    @OptionGroup(title: "Filters") var filters: FilterArguments
    @Option(parsing: .unconditional, help: "The maximum number of products.") var limit = PageRequest.defaultLimit
    @Option(help: "Print the rank of this product instead, or why it has none.") var why: String?
    @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?

    func execute() async throws {
        let text: SearchText
        do throws(SearchTextError) { text = try SearchText(words.joined(separator: " ")) } catch {
            throw CommandFailure("the query \(error.detail)", CommandFailure.usage)
        }
        let sort = try by.map { text in try Self.sort(text) }
        let filter = try filters.filter()
        guard limit >= 1 else { throw CommandFailure("--limit must be 1 or more", CommandFailure.usage) }
        guard shelf != nil || !descendants else {
            throw CommandFailure("--descendants requires --shelf", CommandFailure.usage)
        }
        try await database.withCatalog { catalog in
            let store = try await store.resolve(catalog)
            var request = PageRequest(store: store, shelf: nil, sort: sort, filter: filter, search: text)
            if let shelf {
                (_, request.shelf) = try await ShelfName(store: store, shelf: shelf).resolve(catalog)
                request.includesDescendants = descendants ? true : nil
            }
            if let why { return try await RankListing.print(why, request, .resolve(format), catalog) }
            request.wantsTotal = true
            let (products, first) = try await catalog.pages.products(request, limit: limit)
            let listing = ProductListing(store: first.head.store, products: products, search: first.search)
            listing.print(.resolve(format))
            guard let search = first.search else { return }
            if let failure = search.failure {
                Console.note(Self.describe(failure))
            } else if products.isEmpty {
                Console.note("the filter excludes all products that the search finds")
            } else if Console.notesAreTerminal {
                let (sort, filter) = (first.plan.sort.description, first.plan.resolvedSort.filter.phrase)
                Console.note(
                    """
                    \(products.count) of \(first.total ?? products.count) products for “\(text)” by \(sort)\(filter); class \
                    \(search.searchClass.name)
                    """
                )
            }
        }
    }

    /// Parses a sort, which may be that of a search.
    private static func sort(_ text: String) throws(CatalogError) -> Sort {
        do { return try Sort.parse(text, allowsRelevance: true) } catch { throw .unknownSortKey(error) }
    }

    /// Returns why a search finds nothing, and its correction.
    static func describe(_ failure: SearchSummary.Failure) -> String {
        let missing = failure.missing.map { "“\($0)”" }.joined(separator: ", ")
        let reason = missing.isEmpty ? "no product has all words" : "no product has \(missing)"
        return reason + (failure.correction.map { "; did you mean “\($0)”?" } ?? "")
    }
}
