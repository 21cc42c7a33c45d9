internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

struct SuggestCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract: "Print suggestions for the beginning of a search."
    )

    @Argument(help: "The text that a user has typed, such as mil.") var text: String
    @Option(help: "The store's key; needed if there are several.") var store: StoreName?
    @OptionGroup var database: DatabaseOptions
    @Option(parsing: .unconditional, help: "The maximum number of suggestions.") var limit = Suggestion.defaultLimit
    @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?

    func execute() async throws {
        let limits = Suggestion.limits
        guard limits.contains(limit) else {
            throw CommandFailure(
                "--limit must be between \(limits.lowerBound) and \(limits.upperBound)",
                CommandFailure.usage
            )
        }
        try await database.withCatalog { catalog in
            let request = SuggestionRequest(
                store: try await StoreName.resolve(store, catalog),
                text: text,
                limit: limit
            )
            var table = Table(columns: [.init(title: "kind"), .init(title: "key"), .init(title: "text")])
            for suggestion in try await catalog.suggestions.suggestions(for: request).suggestions {
                let key =
                    switch suggestion.subject {
                    case .word, .brand: ""
                    case .shelf(let key): key.text
                    case .product(let sku): sku.text
                    }
                table.rows.append([suggestion.subject.kind.rawValue, key, suggestion.text])
            }
            table.print(.resolve(format))
        }
    }
}
