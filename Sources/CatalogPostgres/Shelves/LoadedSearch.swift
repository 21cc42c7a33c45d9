internal import Catalog
internal import Shelves
internal import Synchronization

/// The index of a shelf and the rules of its store, by which searches find products.
struct LoadedSearch: Sendable {
    let index: SearchIndexes.NumberedIndex
    let rules: SearchRules
    /// The state that the rules belong to.
    let state: SearchIndexes.RulesState
    /// The number of products whose index this request has built.
    let indexedProducts: Int
    let caches: ShelfCaches
    /// The compiled search and its matches. A page needs both several times, and the caches do not keep large matches.
    private let found = Found()

    private final class Found: Sendable {
        let searches = Mutex<[SearchText: Search]>([:])
        let matches = Mutex<[ShelfCaches.MatchesKey: (key: ShelfCaches.MatchesKey, matches: SearchMatches)]>([:])
    }

    /// The compiled search of a plan.
    private func search(_ text: SearchText) -> Search {
        if let known = found.searches.withLock({ $0[text] }) { return known }
        let compiled = Search(SearchQuery(text), rules)
        found.searches.withLock { $0[text] = compiled }
        return compiled
    }

    private func key(_ text: SearchText, _ limit: SearchClass?) -> ShelfCaches.MatchesKey {
        ShelfCaches.MatchesKey(index: index.number, rules: state, text: text, limit: limit)
    }

    /// Returns what a plan's search finds, with a key for results that follow from it; nil without a search. Pages with the class in use
    /// of the first page share its matches.
    func matches(_ plan: PagePlan) -> (key: ShelfCaches.MatchesKey, matches: SearchMatches)? {
        guard let text = plan.search else { return nil }
        let wanted = key(text, plan.searchClass)
        if let known = found.matches.withLock({ $0[wanted] }) { return known }
        let result = cachedMatches(text, plan.searchClass)
        found.matches.withLock { $0[wanted] = result }
        return result
    }

    private func cachedMatches(
        _ text: SearchText,
        _ limit: SearchClass?
    ) -> (key: ShelfCaches.MatchesKey, matches: SearchMatches) {
        if let known = caches.matches[key(text, nil)], limit == nil || known.classInUse == limit {
            return (key(text, known.classInUse), known)
        }
        let wanted = key(text, limit)
        if let known = caches.matches[wanted] { return (wanted, known) }
        let found = index.index.matches(search(text), within: limit)
        caches.matches[wanted] = found
        return (key(text, found.classInUse), found)
    }

    /// Returns the class in use, and for the first page of a search without results what it lacks; nil without a search.
    ///
    /// - Complexity: as a search; without results, as a correction.
    func summary(_ plan: PagePlan, of table: ShelfTable) -> SearchSummary? {
        guard let text = plan.search, let matches = matches(plan)?.matches else { return nil }
        guard matches.rows.isEmpty, plan.searchClass == nil else { return SearchSummary(text, matches.classInUse) }
        let search = search(text)
        let failure = SearchSummary.Failure(
            missing: matches.missingWords.map { search.query.sourceText($0) },
            correction: index.index.correction(search, table)?.text
        )
        return SearchSummary(text, matches.classInUse, failure: failure)
    }

    /// Returns the parts of products that match a plan's search.
    ///
    /// - Complexity: O(*w* *n*) for *w* words of the search and *n* bytes of texts.
    func highlights(_ plan: PagePlan, of products: [Product?]) -> [[ProductMatch]] {
        guard let text = plan.search, let limit = matches(plan)?.matches.classInUse else { return [] }
        let search = search(text)
        return products.map { product in
            product.map { search.matches(within: limit, in: $0, searchable: index.attributes) } ?? []
        }
    }
}
