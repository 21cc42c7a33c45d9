/// A request for the ranks of products in an order of a shelf.
package struct RankRequest: Sendable, Hashable {
    /// The shelf, and the sort and the filter of a page. Its cursor and limit do not matter.
    package var page: PageRequest
    package var skus: [String]

    /// The maximum number of products.
    package static let productLimit = 100

    package init(page: PageRequest, skus: [String]) { (self.page, self.skus) = (page, skus) }

    /// - Throws: `unprocessable` for too many products.
    func check() throws(CatalogError) {
        guard skus.count <= Self.productLimit else {
            throw .unprocessable(
                field: "skus",
                detail: "skus has \(skus.count) ids; the maximum is \(Self.productLimit)"
            )
        }
    }
}

/// The rank of a product in an order, or the reason why it has none.
package struct ProductRank: Sendable {
    package enum Reason: String, Sendable, CaseIterable {
        case shown
        /// The product is on the shelf, and the search finds it, but the filter excludes it.
        case filteredOut = "filtered_out"
        /// The product is on the shelf, but the search does not find it, whether or not the filter excludes it.
        case notFound = "not_found"
        case notOnShelf = "not_on_shelf"
    }

    package let sku: String
    package let reason: Reason
    /// The number of products before it; nil unless it is shown.
    package let rank: Int?
    /// The products next to it; nil at the ends of the order, and unless it is shown.
    package let before: String?
    package let after: String?
    /// The product that represents its group in the order; nil unless groups are collapsed and it is shown.
    package let representative: Product?
    /// The product; nil if it is not on the shelf.
    package let product: Product?
    /// The relevance of a product that the search finds; nil without a search.
    package let relevance: SearchRelevance?
    /// The keys of the filter that exclude the product.
    package let filters: [FilterKey]
}

/// The ranks of products in one order of a shelf, or of several.
package struct ShelfRanks: Sendable {
    package let basis: PageBasis
    package let plan: PagePlan
    /// The number of products in the order.
    package let count: Int
    /// The ranks in the order of the request.
    package let ranks: [ProductRank]
    /// The result of the search; nil without a search.
    package let search: SearchSummary?
    /// The number of products whose search index was built for the ranks.
    package let indexedProducts: Int

    /// - Parameters:
    ///   - order: the ids that the plan shows, in order.
    ///   - products: those of the requested products that are on the shelf.
    ///   - groups: the groups of the products; nil unless groups are collapsed.
    /// - Complexity: O(*n*) for *n* ids.
    init(
        _ skus: [String],
        _ basis: PageBasis,
        _ plan: PagePlan,
        order: OrderedIDs,
        products: [Product],
        search: SearchSummary? = nil,
        relevances: [String: SearchRelevance] = [:],
        groups: CollapsedGroups? = nil,
        indexedProducts: Int = 0
    ) {
        (self.search, self.indexedProducts) = (search, indexedProducts)
        (self.basis, self.plan, count) = (basis, plan, order.count)
        let found = Dictionary(products.map { ($0.sku.text, $0) }) { first, _ in first }
        /// Returns the id of a product in the order; nil if the order does not show it.
        func id(_ product: Product) -> String? {
            guard let groups else { return product.sku.text }
            return groups.matching.contains(product.sku.text) ? product.cardID : nil
        }
        let ids = Set(products.compactMap(id))
        var indexes: [String: Int] = [:]
        for (index, id) in order.enumerated() where ids.contains(id) {
            indexes[id] = index
            if indexes.count == ids.count { break }
        }
        let (filter, currency) = (plan.resolvedSort.filter, plan.currency)
        ranks = skus.map { sku in
            guard let product = found[sku] else { return ProductRank(sku, .notOnShelf) }
            if let id = id(product), let index = indexes[id] {
                return ProductRank(
                    sku,
                    .shown,
                    rank: index,
                    before: index > 0 ? order[index - 1] : nil,
                    after: index + 1 < order.count ? order[index + 1] : nil,
                    representative: groups?.representatives[id],
                    product: product,
                    relevance: relevances[groups?.representatives[id]?.sku.text ?? sku]
                )
            }
            let excluding = filter.keys.filter { key in
                !filter.without(Set(filter.keys).subtracting([key])).accepts(product, in: currency)
            }
            return ProductRank(
                sku,
                plan.search != nil && relevances[sku] == nil ? .notFound : .filteredOut,
                product: product,
                relevance: relevances[sku],
                filters: excluding
            )
        }
    }
}

extension ProductRank {
    fileprivate init(
        _ sku: String,
        _ reason: Reason,
        rank: Int? = nil,
        before: String? = nil,
        after: String? = nil,
        representative: Product? = nil,
        product: Product? = nil,
        relevance: SearchRelevance? = nil,
        filters: [FilterKey] = []
    ) {
        (self.sku, self.reason, self.rank, self.before, self.after) = (sku, reason, rank, before, after)
        (self.representative, self.product) = (representative, product)
        (self.relevance, self.filters) = (relevance, filters)
    }
}

/// The groups of some products in an order with collapsed groups.
struct CollapsedGroups: Sendable {
    /// The SKUs of the products that match the filter and the search.
    let matching: Set<String>
    /// The product that represents each group, by the id of the group.
    let representatives: [String: Product]

    init(
        _ products: [Product],
        _ request: PageRequest,
        _ plan: PagePlan,
        _ shelf: any CurrentShelf
    ) async throws(CatalogError) {
        var expanded = request
        expanded.collapsesGroups = false
        let all = await shelf.ids(try PlannedPage(expanded, shelf.basis).plan, first: nil)
        matching = Set(products.map(\.sku.text)).intersection(all)
        let matching = matching
        let shown = products.filter { matching.contains($0.sku.text) }
        let cards = try await shelf.cards(shown.map(\.cardID), plan)
        representatives = Dictionary(cards.map { ($0.id, $0.product) }) { first, _ in first }
    }
}

extension PageStore {
    /// Returns the ranks of products in an order, from one moment.
    ///
    /// - Throws: `notFound` for the store or the shelf; `unprocessable` for too many products; as `PageRequest.plan`.
    /// - Complexity: as a page, and O(*n*) for *n* products of the shelf.
    package func ranks(_ request: RankRequest) async throws(CatalogError) -> ShelfRanks {
        try request.check()
        let shelf = try await current(request.page)
        let plan = try PlannedPage(request.page, shelf.basis).plan
        let products = try shelf.products(request.skus)
        let groups = plan.collapsesGroups ? try await CollapsedGroups(products, request.page, plan, shelf) : nil
        let shown = groups.map { Array($0.representatives.values) } ?? []
        return ShelfRanks(
            request.skus,
            shelf.basis,
            plan,
            order: await shelf.ids(plan, first: nil),
            products: products,
            search: await shelf.searchSummary(plan),
            relevances: await shelf.relevances(request.skus + shown.map(\.sku.text), plan),
            groups: groups,
            indexedProducts: shelf.indexedProducts
        )
    }
}
