package import Catalog
internal import Shelves
internal import Synchronization

extension InMemoryCatalog {
    /// Suggestions from an index that is built for the request. `ShelvesTests` have a specification of searches.
    package func suggestions(for request: SuggestionRequest) async throws(CatalogError) -> FoundSuggestions {
        let shared = deploymentSynonyms.withLock { $0 } ?? .none
        let source = try read(request.store) { content in
            let all = ShelfContent(
                shelf: Shelf(key: content.store.key, title: content.store.title),
                isAllShelves: true,
                modifiedAt: clock()
            )
            let table = ShelfTable(
                unionListings(content, all).map { TableRow($0.product, position: []) { Array($0.utf8) } }
            )
            let inflection = Inflection(InflectionLanguage(tag: content.store.locale).map { [$0] } ?? [])
            return SuggestionSource(
                table,
                SearchIndex(
                    table,
                    texts: table.searchedTexts(of: resolvedAttributes(of: content).searchable),
                    inflection: inflection
                ),
                SearchRules(inflection: inflection, synonyms: shared.adding(content.synonyms ?? .none)),
                shelves: content.shelves.values.filter { !$0.isRemoved }.map {
                    let shown = $0.shelf.includesDescendants ? unionListings(content, $0).count : $0.placed.count
                    return SuggestionSource.Shelf(key: $0.shelf.key, title: $0.shelf.title, productCount: shown)
                },
                sortsSoldOutLast: content.store.soldOut == .last
            )
        }
        return FoundSuggestions(try source.suggestions(for: request))
    }
}
