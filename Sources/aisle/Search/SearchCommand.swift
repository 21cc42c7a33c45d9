internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct SearchCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Print the products that a search finds, the most relevant ones first.",
        discussion: """
            The search is the one of the API, in all shelves of a store or on one. With --format json, the output also has the class in use, \
            the words that find nothing, the correction and the number of all products that the search finds.
            """
    )

    @Argument(help: "The words. A product must have all of them, in any order.") var words: [String]
    @Option(help: "The store's key; needed if there are several.") var store: StoreName?
    @Option(help: "Search this shelf alone: STORE/SHELF, or just SHELF if there is only one store.") var shelf:
        ShelfName?
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "With --shelf: also search all shelves below it.") var descendants = false
    @Option(parsing: .unconditional, help: "The sort, such as price; defaults to -relevance.") var by: String?
    @OptionGroup(title: "Filters") var filters: FilterArguments
    @Option(
        parsing: .unconditional,
        help: "The maximum number of products; \(PageRequest.defaultLimit) by default."
    ) var limit: Int?
    @Option(help: "Print the rank of this product instead, or why it has none.") var why: String?
    @Flag(
        inversion: .prefixedNo,
        help:
            "Whether to show one product for each group; by default, the shelf decides, and a store shows all products."
    )
    var collapse: Bool?
    @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?

    func execute() async throws {
        let text: SearchText
        do throws(SearchTextError) { text = try SearchText(words.joined(separator: " ")) } catch {
            throw CommandFailure("the query \(error.detail)", CommandFailure.usage)
        }
        let sort = try by.map { text in try parseSort(text, allowsRelevance: true) }
        let filter = try filters.filter()
        if let limit, limit < 1 { throw CommandFailure("--limit must be 1 or more", CommandFailure.usage) }
        if why != nil, limit != nil {
            throw CommandFailure("--limit is for lists; leave it out with --why", CommandFailure.usage)
        }
        guard shelf != nil || !descendants else {
            throw CommandFailure("--descendants requires --shelf", CommandFailure.usage)
        }
        guard shelf == nil || store == nil else {
            throw CommandFailure("specify the store in --shelf, as STORE/SHELF, not with --store", CommandFailure.usage)
        }
        try await database.withCatalog { catalog in
            var request: PageRequest
            if let shelf {
                let (store, key) = try await shelf.resolve(catalog)
                request = PageRequest(store: store, shelf: key, sort: sort, filter: filter, search: text)
                if descendants { request.includesDescendants = true }
            } else {
                let store = try await StoreName.resolve(store, catalog)
                request = PageRequest(store: store, shelf: nil, sort: sort, filter: filter, search: text)
            }
            request.collapsesGroups = collapse
            if let why { return try await RankListing.print(why, request, .resolve(format), catalog) }
            request.wantsTotal = true
            let (products, first) = try await catalog.pages.products(request, limit: limit ?? PageRequest.defaultLimit)
            ProductListing(search: first.search, total: first.total)
                .print(products, of: first.head.store, .resolve(format))
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

    /// Returns why a search finds nothing, and its correction.
    static func describe(_ failure: SearchSummary.Failure) -> String {
        let missing = failure.missing.map { "“\($0)”" }.joined(separator: ", ")
        let reason = missing.isEmpty ? "no product has all words" : "no product has \(missing)"
        return reason + (failure.correction.map { "; did you mean “\($0)”?" } ?? "")
    }
}
