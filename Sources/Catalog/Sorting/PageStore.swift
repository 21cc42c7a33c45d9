/// The products of shelves, in every order.
package protocol PageStore: Sendable {
    /// Reads the shelf of a request, at versions that are current: what it returns is never older than the request.
    ///
    /// - Parameters:
    ///   - request: the shelf, and what else its basis depends on: the user, and for descendants the sort and the cursor.
    ///   - isAnswered: whether the basis alone answers the request, so that the products are not needed.
    /// - Throws: `notFound` for the store or the shelf; the errors of `isAnswered`.
    func read(
        _ request: PageRequest,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws(CatalogError) -> ShelfRead

    /// Reads the union of a request, or a single shelf if the request shows only one by now, at current versions. It may take long.
    ///
    /// - Throws: `notFound` for the store or the shelf.
    func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf
}

/// The result of reading a shelf.
package enum ShelfRead: Sendable {
    /// Only the basis, which answers the request.
    case answered(PageBasis)
    case shelf(any CurrentShelf)
    /// Nothing, because the request shows several shelves. Their basis does not say enough for an answer: the dimension of the unit prices may be
    /// the most frequent one of the products.
    case union
}

/// A shelf, or the union of several, at fixed versions. Everything that it returns is of the same state.
package protocol CurrentShelf: Sendable {
    var basis: PageBasis { get }
    /// The number of products whose search index was built for the request.
    var indexedProducts: Int { get }

    /// Returns a page.
    ///
    /// - Parameters:
    ///   - plan: a plan for the basis.
    ///   - items: an empty collection, to which the products of the page are added.
    func page<Items: PageItems>(_ plan: PagePlan, into items: Items) async throws(CatalogError) -> PageOf<Items>

    /// Returns the ids of the products that a plan shows, in order, with the cursor of the page after them.
    /// The cursor and the limit of the plan do not matter.
    ///
    /// - Parameter limit: the maximum number of ids; nil for all.
    func ids(_ plan: PagePlan, first limit: Int?) async -> OrderedIDs

    /// Returns what the search of a plan finds; nil without a search.
    func searchSummary(_ plan: PagePlan) async -> SearchSummary?

    /// Returns the relevance of products by their ids; those that the search of a plan does not find are left out.
    func relevances(_ ids: [String], _ plan: PagePlan) async -> [String: SearchRelevance]

    /// Returns products by their SKUs; those that are not on the shelf are left out.
    func products(_ skus: [String]) throws(CatalogError) -> [Product]

    /// Returns the products that represent groups, without their members.
    ///
    /// - Parameters:
    ///   - ids: ids of an order that the plan shows; others may be left out.
    ///   - plan: a plan with collapsed groups.
    func cards(_ ids: [String], _ plan: PagePlan) async throws(CatalogError) -> [ShownProduct]
}

extension CurrentShelf {
    /// Returns what a plan shows with some ids of its order.
    package func shown(_ ids: [String], _ plan: PagePlan) async throws(CatalogError) -> [ShownProduct] {
        plan.collapsesGroups ? try await cards(ids, plan) : try products(ids).map { ShownProduct($0) }
    }

    /// Returns the orders of sorts.
    ///
    /// - Parameters:
    ///   - request: the request that the shelf was read for.
    ///   - remembered: the remembered sorts that apply; nil for those of the request's user.
    ///   - limit: the maximum number of ids; nil for all.
    ///   - wantsSummary: whether orders say what their search finds. Without results, that takes long.
    /// - Throws: as `PageRequest.plan`.
    func orders(
        _ sorts: [RequestedSort],
        for request: PageRequest,
        remembering remembered: RememberedSorts? = nil,
        first limit: Int? = nil,
        wantsSummary: Bool = true
    ) async throws(CatalogError) -> [ShelfOrder] {
        var orders: [ShelfOrder] = []
        for requested in sorts {
            let plan = try plan(requested, for: request, remembering: remembered)
            orders.append(
                ShelfOrder(
                    head: basis.head,
                    union: basis.union,
                    resolvedSort: plan.resolvedSort,
                    list: await ids(plan, first: limit),
                    search: wantsSummary ? await searchSummary(plan) : nil,
                    indexedProducts: indexedProducts
                )
            )
        }
        return orders
    }

    /// Returns the plan of a sort.
    ///
    /// - Parameters:
    ///   - request: the request that the shelf was read for.
    ///   - remembered: the remembered sorts that apply; nil for those of the request's user.
    /// - Throws: as `PageRequest.plan`.
    private func plan(
        _ requested: RequestedSort,
        for request: PageRequest,
        remembering remembered: RememberedSorts?
    ) throws(CatalogError) -> PagePlan {
        var request = request
        request.requested = requested
        return try PlannedPage(request, remembered.map { basis.remembering($0) } ?? basis).plan
    }

    /// Returns the diff of a request.
    ///
    /// - Throws: as `OrderDiff`.
    package func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff {
        let start = ContinuousClock.now
        var orders: [ShelfOrder] = []
        let transition = request.transition
        let parameters = [("to_sort", transition?.to), ("from_sort", transition?.from)]
        for (requested, (parameter, remembered)) in zip(request.sorts, parameters) {
            do throws(CatalogError) {
                orders += try await self.orders(
                    [requested],
                    for: request.page,
                    remembering: remembered,
                    first: request.limit,
                    wantsSummary: orders.isEmpty
                )
            } catch .unknownSortKey(let error, _) {
                throw .unknownSortKey(error, parameter: parameter)
            }
        }
        let diff = try OrderDiff(request, orders)
        var shown: [ShownProduct] = []
        if diff.includesProducts(for: request) {
            let plan = try plan(request.to, for: request.page, remembering: transition?.to)
            shown = try await self.shown(diff.newIDs, plan)
        }
        return diff.with(shown, readDuration: ContinuousClock.now - start - diff.compareDuration)
    }
}

extension PageStore {
    /// Returns what a request shows.
    package func current(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        if case .shelf(let shelf) = try await read(request, unless: { _ in false }) { return shelf }
        return try await currentUnion(request)
    }

    package func basis(of request: PageRequest) async throws(CatalogError) -> PageBasis {
        switch try await read(request, unless: { _ in true }) {
        case .answered(let basis): basis
        case .shelf(let shelf): shelf.basis
        case .union: try await currentUnion(request).basis
        }
    }

    /// Returns a page, for feeds and commands. The API plans its pages itself, because it may have them already.
    ///
    /// - Throws: `notFound`, and as `PageRequest.plan`.
    package func page(_ request: PageRequest) async throws(CatalogError) -> ShelfPage {
        let shelf = try await current(request)
        return try await shelf.page(try PlannedPage(request, shelf.basis).plan, into: [])
    }

    /// Returns the ids of all products that a sort shows, in order.
    ///
    /// - Throws: `notFound`; `malformed` for the manual order of several shelves.
    package func order(_ request: OrderRequest) async throws(CatalogError) -> ShelfOrder {
        try request.check()
        let page = request.page
        return try await current(page).orders([request.requested], for: page)[0]
    }

    /// Returns the ids of all products that a sort shows, in order, also if the shelf collapses groups by default.
    package func order(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ sort: Sort?,
        filter: Filter? = nil
    ) async throws(CatalogError) -> ShelfOrder {
        let requested = RequestedSort(sort: sort, filter: filter, collapsesGroups: false)
        return try await order(OrderRequest(address: ShelfAddress(store, shelf), requested: requested))
    }

    /// Returns the ids that several sorts of one shelf show, in order, from one state.
    package func orders(_ address: ShelfAddress, _ sorts: [RequestedSort]) async throws(CatalogError) -> [ShelfOrder] {
        var request = PageRequest(store: address.store, shelf: address.shelf)
        request.includesDescendants = false
        request.search = sorts.lazy.compactMap(\.search).first
        return try await current(request).orders(sorts, for: request)
    }

    /// Returns the diff to the current order of a shelf, from one state.
    ///
    /// - Throws: as `OrderDiff`; `malformed` for a limit below 1; `notFound`.
    package func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff {
        try request.check()
        return try await current(request.page).diff(request)
    }
}

extension OrderRequest {
    /// The request for the shelf of the order. The manual order has no descendants, unless the request asks for them.
    var page: PageRequest {
        var page = PageRequest(store: address.store, shelf: address.shelf, user: requested.isDefault ? user : nil)
        page.search = requested.search
        page.includesDescendants = includesDescendants ?? (requested.readsPositions ? false : nil)
        return page
    }
}

extension DiffRequest {
    /// The request for the shelf of the orders. They have no descendants if one is the manual order, unless the request asks for them.
    package var page: PageRequest {
        let needsUser = sorts.contains(where: \.isDefault)
        var page = PageRequest(store: store, shelf: shelf, user: needsUser ? user : nil)
        page.search = sorts.lazy.compactMap(\.search).first
        page.includesDescendants = includesDescendants ?? (sorts.contains { $0.readsPositions } ? false : nil)
        return page
    }
}

/// The products of a page, in the form that its reader needs.
package protocol PageItems: Sendable {
    /// Adds a product by its key, if the receiver already has this state of it.
    ///
    /// - Parameters:
    ///   - modifiedAt: identifies the product's state, apart from its popularity.
    /// - Returns: false if the receiver needs the whole product; it was not added.
    mutating func addKnown(_ sku: SKU, modifiedAt: Timestamp, popularity: Popularity) -> Bool
    /// Adds a product.
    mutating func add(_ product: Product)
}

extension [Product]: PageItems {
    package func addKnown(_ sku: SKU, modifiedAt: Timestamp, popularity: Popularity) -> Bool { false }
    package mutating func add(_ product: Product) { append(product) }
}

/// A page of a shelf, with its products.
package typealias ShelfPage = PageOf<[Product]>

/// A page of a shelf.
package struct PageOf<Items: PageItems>: Sendable {
    package let planned: PlannedPage
    package let items: Items
    /// The cursor of the next page; nil on the last page.
    package let next: Cursor?
    /// The requested facets.
    package var facets: Facets?
    /// The number of products, or of collapsed groups, that match the filter and the search, on all pages; nil if it was not requested.
    package var total: Int?
    /// The result of the search; nil without a search.
    package var search: SearchSummary?
    /// The parts of each product that match the search; empty without a search.
    package var matches: [[ProductMatch]] = []
    /// The group that each product represents; empty unless groups are collapsed.
    package var cards: [GroupCard] = []
    /// The first members of each card, beginning with the representative; empty unless the request asks for them.
    package var members: [Items] = []

    package var head: ShelfHead { planned.basis.head }
    package var plan: PagePlan { planned.plan }

    /// - Parameter total: the number of products, or of collapsed groups, that match the filter and the search, on all pages.
    package init(_ planned: PlannedPage, _ items: Items, next: Cursor?, of total: Int) {
        self.planned = planned
        self.items = items
        self.next = next
        self.total = planned.plan.wantsTotal ? total : nil
    }
}

extension ShelfPage {
    package var products: [Product] { items }

    /// The products with their ids and what they represent.
    package var shown: [ShownProduct] {
        items.enumerated().map { index, product in
            ShownProduct(
                product,
                card: cards.isEmpty ? nil : cards[index],
                members: members.isEmpty ? nil : members[index]
            )
        }
    }
}
