internal import Catalog

extension PagePlan {
    /// Returns the cursor for the page after a listing.
    ///
    /// - Parameter search: what the search finds; nil without a search.
    func cursor(after listing: Listing, _ search: SpecifiedSearch?) -> Cursor {
        cursor(
            at: listing.product.sku,
            listing.product.name,
            sort.comparedTerms.map { term in
                let relevance = search?.relevances[listing.product.sku]
                return relevance?.value(of: term.key).map { .integer(Int64($0)) } ?? term.key.value(of: listing)
            },
            isSoldOut: listing.isSoldOut,
            searchClass: search?.searchClass
        )
    }
}

extension PageOf {
    /// Creates a page from up to `limit + 1` cards; the extra one shows that there is a next page.
    ///
    /// - Parameters:
    ///   - total: the number of products that match the filter and the search.
    ///   - search: what the search finds; nil without a search.
    init(
        _ planned: PlannedPage,
        cards: [SpecifiedShelf.Card],
        into items: Items,
        of total: Int,
        _ search: SpecifiedSearch? = nil
    ) {
        let plan = planned.plan
        let shown = cards.prefix(plan.limit).map(\.listing)
        func added(_ products: [Product]) -> Items {
            var items = items
            for product in products { items.add(product) }
            return items
        }
        let last = cards.count > plan.limit ? shown.last : nil
        let next = last.map { plan.cursor(after: $0, search) }
        self.init(planned, added(shown.map(\.product)), next: next, of: total)
        self.cards = cards.prefix(plan.limit).compactMap(\.group)
        if plan.wantsMembers {
            members = cards.prefix(plan.limit).map { added($0.members.prefix(GroupCard.memberLimit).map(\.product)) }
        }
        if let search {
            self.search = search.summary
            if plan.wantsMatches { self.matches = shown.map { search.matches(in: $0.product) } }
        }
    }
}
