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

    /// What the search of a plan finds; nil without a search.
    private func search(_ plan: PagePlan) -> SpecifiedSearch? {
        plan.search.map { text in
            SpecifiedSearch(
                text,
                listings.map(\.product),
                Inflection(InflectionLanguage(tag: basis.head.store.locale).map { [$0] } ?? []),
                synonyms,
                basis.attributes.searchable,
                limit: plan.searchClass
            )
        }
    }

    func searchSummary(_ plan: PagePlan) async -> SearchSummary? { search(plan)?.summary }

    /// The listings that a plan shows, in order.
    private func shown(_ plan: PagePlan, _ search: SpecifiedSearch?) -> [Listing] {
        listings.filter { plan.resolvedSort.filter.accepts($0.product, in: plan.currency) }
            .filter { listing in search.map { $0.relevances[listing.product.sku] != nil } ?? true }
            .sorted { a, b in
                plan.sort.precedes(a, b, dimension: plan.dimension, collate: collate) {
                    search?.relevances[$0.sku] ?? .max
                }
            }
    }

    func page<Items: PageItems>(_ plan: PagePlan, into items: Items) async throws(CatalogError) -> PageOf<Items> {
        let search = search(plan)
        let sorted = shown(plan, search)
        let start = plan.after.flatMap { after in sorted.firstIndex { $0.product.sku.text == after.id } }
        let rest = start.map { sorted[($0 + 1)...] } ?? sorted[...]
        let listed = Array(rest.prefix(plan.limit + 1))
        var page = PageOf(PlannedPage(basis, plan), listings: listed, into: items, matches: sorted.count, search)
        if !plan.facets.isEmpty { page.facets = facets(plan, search) }
        return page
    }

    func ids(_ plan: PagePlan, first limit: Int?) async -> OrderedIDs {
        let ids = shown(plan, search(plan)).map(\.product.sku.text)
        return OrderedIDs(limit.map { Array(ids.prefix($0)) } ?? ids)
    }

    func products(_ ids: [String]) throws(CatalogError) -> [Product] {
        let wanted = Set(ids)
        return listings.map(\.product).filter { wanted.contains($0.sku.text) }
    }

    /// Counts each facet, ignoring the facet's own filter.
    private func facets(_ plan: PagePlan, _ search: SpecifiedSearch?) -> Facets {
        let products = listings.map(\.product).filter { product in
            search.map { $0.relevances[product.sku] != nil } ?? true
        }
        func left(without keys: Set<FilterKey>) -> [Product] {
            let filter = plan.resolvedSort.filter.without(keys)
            return products.filter { filter.accepts($0, in: plan.currency) }
        }
        func counts(_ values: [String]) -> [Facets.Count] {
            Dictionary(values.map { ($0, 1) }, uniquingKeysWith: +).map { Facets.Count($0, $1) }.sorted { a, b in
                if a.count != b.count { return a.count > b.count }
                let order = collate(a.value, b.value)
                return order == 0 ? a.value.utf8.lexicographicallyPrecedes(b.value.utf8) : order < 0
            }
        }
        var facets = Facets(counted: plan.facets)
        facets.total = left(without: []).count
        for facet in plan.facets {
            let products = left(without: facet.keys)
            switch facet {
            case .brand: facets.brands = counts(products.map { $0.brand ?? "" })
            case .tag: facets.tags = counts(products.flatMap { $0.tags.isEmpty ? [""] : Array(Set($0.tags)) })
            case .inStock:
                facets.inStock = products.count(where: \.inStock)
                facets.soldOut = products.count - facets.inStock
            case .price:
                let prices = products.compactMap(\.priceMinor)
                facets.prices = Dictionary(prices.map { ($0, 1) }, uniquingKeysWith: +).map { PriceCount($0, $1) }
                    .sorted { $0.minor < $1.minor }
                facets.unpriced = products.count - prices.count
            case .attribute: break
            }
        }
        facets.attributes = plan.facets.compactMap(\.attribute).sorted { $0.name < $1.name }.map { attribute in
            facet(attribute, left(without: Facet.attribute(.resolved(attribute)).keys), counts)
        }
        return facets
    }

    /// Counts the values of an attribute.
    private func facet(
        _ attribute: ResolvedAttribute,
        _ products: [Product],
        _ counts: ([String]) -> [Facets.Count]
    ) -> AttributeFacet {
        let values = products.compactMap { attribute.value(of: $0) }
        let unknown = products.count - values.count
        func texts(_ value: AttributeValue) -> [String] {
            guard case .set(let elements) = value else { return [attribute.form.text(of: value)] }
            return elements.isEmpty ? [""] : elements
        }
        let counted = counts(values.flatMap(texts))
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
            let units = values.map { value -> (down: Int128, up: Int128) in
                switch value {
                case .number(let number): (Int128(number), Int128(number))
                case .date(let day): (Int128(day), Int128(day))
                case .ratio(let fraction):
                    (
                        attribute.units(of: fraction, roundedUp: false),
                        attribute.units(of: fraction, roundedUp: true)
                    )
                default: (0, 0)
                }
            }
            let keys = Dictionary(units.map { ([$0.down, $0.up], 1) }, uniquingKeysWith: +)
            let ranges = keys.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { key, count in
                AttributeRange.Count(key[0], isRounded: key[0] != key[1], count)
            }
            return AttributeFacet(attribute, .range(AttributeRange(ranges, of: attribute)), unknown: unknown)
        }
    }
}
