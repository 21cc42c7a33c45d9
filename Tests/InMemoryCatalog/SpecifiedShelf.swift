internal import Catalog
internal import Shelves

/// The products of a shelf, or of several, as the specification orders them.
struct SpecifiedShelf: CurrentShelf {
    let basis: PageBasis
    let listings: [Listing]
    let collate: Collator
    /// The synonyms of the store and of the deployment.
    let synonyms: Synonyms

    var indexedProducts: Int { 0 }

    private var productsByName: [Product] {
        let products = listings.map { Listing(product: $0.product, position: [], isSoldOut: false) }
        let sort = Sort(.name, .ascending)!
        return sort.sorted(products, dimension: .mass, collate: collate).map(\.product)
    }

    /// The result of a plan's search; nil without a search.
    private func search(_ plan: PagePlan) -> SpecifiedSearch? {
        plan.search.map { text in
            SpecifiedSearch(
                text,
                productsByName,
                Inflection(InflectionLanguage(tag: basis.head.store.locale).map { [$0] } ?? []),
                synonyms,
                basis.attributes.searchable,
                limit: plan.searchClass
            )
        }
    }

    func searchSummary(_ plan: PagePlan) async -> SearchSummary? { search(plan)?.summary }

    func relevances(_ ids: [String], _ plan: PagePlan) async -> [String: SearchRelevance] {
        let found = search(plan)?.relevances.map { ($0.key.text, $0.value) } ?? []
        return Dictionary(found) { first, _ in first }.filter { ids.contains($0.key) }
    }

    /// A product that a plan shows.
    struct Card {
        let listing: Listing
        /// The matching products of its group, in the natural direction of the first key; only the product unless groups are collapsed.
        let members: [Listing]
        /// The group that the product represents; nil unless groups are collapsed.
        let group: GroupCard?
        var id: String { ShownProduct(listing.product, card: group).id }
    }

    /// The products that a plan shows, in order. With collapsed groups, the first product of a group in the natural direction of the first key
    /// represents it.
    private func shown(_ plan: PagePlan, _ search: SpecifiedSearch?) -> [Card] {
        let sorted = matching(plan, plan.sort, search)
        guard plan.collapsesGroups else { return sorted.map { Card(listing: $0, members: [$0], group: nil) } }
        let inNaturalOrder = matching(plan, natural(plan.sort), search)
        let groups = Dictionary(grouping: inNaturalOrder, by: \.product.cardID)
        let totals = Dictionary(grouping: listings, by: \.product.cardID).mapValues(\.count)
        return sorted.filter { groups[$0.product.cardID]?.first?.product.sku == $0.product.sku }.map { listing in
            let members = groups[listing.product.cardID] ?? []
            let group = GroupCard(matching: members.count, total: totals[listing.product.cardID] ?? 0)
            return Card(listing: listing, members: members, group: group)
        }
    }

    /// The sort with its first key in its natural direction: itself, or the one with all directions reversed that can be.
    private func natural(_ sort: Sort) -> Sort {
        let first = sort.terms[0]
        if first.direction == first.key.naturalDirection { return sort }
        let terms = sort.terms.map { term in
            (term.key.isReversible && term.direction == .ascending ? "-" : "") + term.key.name
        }
        return (try? Sort.parse(terms.joined(separator: ",")).resolved(in: basis.attributes)) ?? sort
    }

    /// The listings that a plan's filter and search keep, in the order of a sort.
    private func matching(_ plan: PagePlan, _ sort: Sort, _ search: SpecifiedSearch?) -> [Listing] {
        let kept = listings.filter { plan.resolvedSort.filter.accepts($0.product, in: plan.currency) }
            .filter { listing in search.map { $0.relevances[listing.product.sku] != nil } ?? true }
        return sort.sorted(kept, dimension: plan.dimension, collate: collate) { search?.relevances[$0.sku] }
    }

    func page<Items: PageItems>(_ plan: PagePlan, into items: Items) async throws(CatalogError) -> PageOf<Items> {
        let search = search(plan)
        let sorted = shown(plan, search)
        let start = plan.after.flatMap { after in sorted.firstIndex { $0.listing.product.sku.text == after.id } }
        let rest = start.map { sorted[($0 + 1)...] } ?? sorted[...]
        let listed = Array(rest.prefix(plan.limit + 1))
        var page = PageOf(PlannedPage(basis, plan), cards: listed, into: items, of: sorted.count, search)
        if !plan.facets.isEmpty { page.facets = facets(plan, search) }
        return page
    }

    func ids(_ plan: PagePlan, first limit: Int?) async -> OrderedIDs {
        let search = search(plan)
        let cards = shown(plan, search)
        let kept = cards.prefix(limit ?? cards.count)
        let last = kept.count < cards.count ? kept.last : nil
        return OrderedIDs(kept.map(\.id), next: last.map { plan.cursor(after: $0.listing, search) })
    }

    func products(_ skus: [String]) throws(CatalogError) -> [Product] {
        let wanted = Set(skus)
        return listings.map(\.product).filter { wanted.contains($0.sku.text) }
    }

    func cards(_ ids: [String], _ plan: PagePlan) async throws(CatalogError) -> [ShownProduct] {
        let wanted = Set(ids)
        return shown(plan, search(plan)).filter { wanted.contains($0.id) }.map {
            ShownProduct($0.listing.product, card: $0.group)
        }
    }

    /// Counts each facet, ignoring the facet's own filter. With collapsed groups, a value counts the groups that have a product with it.
    private func facets(_ plan: PagePlan, _ search: SpecifiedSearch?) -> Facets {
        let products = listings.map(\.product).filter { product in
            search.map { $0.relevances[product.sku] != nil } ?? true
        }
        func left(without keys: Set<FilterKey>) -> [Product] {
            let filter = plan.resolvedSort.filter.without(keys)
            return products.filter { filter.accepts($0, in: plan.currency) }
        }
        let tally = Tally(collapsesGroups: plan.collapsesGroups)
        func counts(_ products: [Product], _ values: (Product) -> [String]) -> [Facets.Count] {
            tally.counts(products, values).map { Facets.Count($0, $1) }.sorted { a, b in
                if a.count != b.count { return a.count > b.count }
                let order = collate(a.value, b.value)
                return order == 0 ? a.value.utf8.lexicographicallyPrecedes(b.value.utf8) : order < 0
            }
        }
        var facets = Facets(counted: plan.facets)
        facets.total = tally.count(left(without: [])) { _ in true }
        for facet in plan.facets {
            let products = left(without: facet.keys)
            switch facet {
            case .brand: facets.brands = counts(products) { [$0.brand ?? ""] }
            case .tag: facets.tags = counts(products) { $0.tags.isEmpty ? [""] : $0.tags }
            case .inStock:
                facets.inStock = tally.count(products) { $0.inStock }
                facets.soldOut = tally.count(products) { !$0.inStock }
            case .price:
                let prices = tally.counts(products) { $0.priceMinor.map { [$0] } ?? [] }
                facets.prices = prices.map { PriceCount($0, $1) }.sorted { $0.minor < $1.minor }
                facets.unpriced = tally.count(products) { $0.priceMinor == nil }
                facets.recountBuckets { bucket in
                    tally.count(products) { $0.priceMinor.map(bucket.contains) ?? false }
                }
            case .attribute: break
            }
        }
        facets.attributes = plan.facets.compactMap(\.attribute).sorted { $0.name < $1.name }.map { attribute in
            facet(attribute, left(without: Facet.attribute(.resolved(attribute)).keys), tally, counts)
        }
        return facets
    }

    /// Counts the values of an attribute.
    private func facet(
        _ attribute: ResolvedAttribute,
        _ products: [Product],
        _ tally: Tally,
        _ counts: ([Product], (Product) -> [String]) -> [Facets.Count]
    ) -> AttributeFacet {
        let unknown = tally.count(products) { attribute.value(of: $0) == nil }
        func texts(_ value: AttributeValue) -> [String] {
            guard case .set(let elements) = value else { return [attribute.form.text(of: value)] }
            return elements.isEmpty ? [""] : elements
        }
        let counted = counts(products) { attribute.value(of: $0).map(texts) ?? [] }
        switch attribute.form {
        case .enumeration(let options):
            let ordered = options.map { option in
                counted.first { $0.value == option.key } ?? Facets.Count(option.key, 0)
            }
            return AttributeFacet(attribute, .values(ordered), unknown: unknown)
        case .boolean:
            let both = ["true", "false"].map { text in
                Facets.Count(text, counted.first { $0.value == text }?.count ?? 0)
            }
            return AttributeFacet(attribute, .values(both), unknown: unknown)
        case .text, .set, .unknown: return AttributeFacet(attribute, .values(counted), unknown: unknown)
        case .number, .date, .ratio:
            func units(_ product: Product) -> [Int128]? {
                switch attribute.value(of: product) {
                case .number(let number): [Int128(number), Int128(number)]
                case .date(let day): [Int128(day), Int128(day)]
                case .ratio(let fraction):
                    [
                        attribute.units(of: fraction, roundedUp: false),
                        attribute.units(of: fraction, roundedUp: true),
                    ]
                default: nil
                }
            }
            let keys = tally.counts(products) { units($0).map { [$0] } ?? [] }
            let ranges = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, count in
                AttributeRange.Count(key[0], isRounded: key[0] != key[1], count)
            }
            let facet = AttributeFacet(attribute, .range(AttributeRange(ranges, of: attribute)), unknown: unknown)
            return facet.recounting { range in
                tally.count(products) { units($0).map { range.contains($0[0]) } ?? false }
            }
        }
    }
}

/// Counts products, or groups of products.
private struct Tally {
    let collapsesGroups: Bool

    private func groups(_ products: [Product]) -> [[Product]] {
        collapsesGroups ? Array(Dictionary(grouping: products, by: \.cardID).values) : products.map { [$0] }
    }

    /// Returns the number of groups with a product that satisfies a condition.
    func count(_ products: [Product], _ condition: (Product) -> Bool) -> Int {
        groups(products).count { $0.contains(where: condition) }
    }

    /// Returns the number of groups that have each value.
    func counts<Value: Hashable>(_ products: [Product], _ values: (Product) -> [Value]) -> [Value: Int] {
        Dictionary(groups(products).flatMap { Set($0.flatMap(values)).map { ($0, 1) } }, uniquingKeysWith: +)
    }
}
