internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Platform

/// The pages of a shelf, or of all shelves of a store, and the whole order of a shelf.
struct PageEndpoints: EndpointGroup {
    let store: any PageStore
    let cursors: CursorCodec
    let observer: Observer<HTTPObservation>
    let cache: PageCache
    let fragments: ProductFragments

    init(
        store: any PageStore,
        cursors: CursorCodec,
        observer: Observer<HTTPObservation>,
        cache: PageCache,
        fragments: ProductFragments
    ) {
        self.store = store
        self.cursors = cursors
        self.observer = observer
        self.cache = cache
        self.fragments = fragments
    }

    var endpoints: [Endpoint] {
        let shelf = "/v1/stores/{store}/shelves/{shelf}"
        return [
            Endpoint(
                .get,
                shelf + "/products",
                .optionalToken,
                .listShelfProducts,
                timeLimit: nil,
                surcharge: Self.surcharge,
                runsOnEventLoop: true,
                readsReplicas: true,
                { try await page($0, of: $0.parameters.shelf) }
            ),
            Endpoint(
                .get,
                shelf + "/order",
                .optionalToken,
                .getOrder,
                timeLimit: TimeLimit.shelf.request,
                cost: 10,
                surcharge: SearchCost.surcharge,
                isCostly: true,
                readsReplicas: true,
                order
            ),
        ]
    }

    /// Returns the points for a page of all shelves of a store; 0 for a list by SKU.
    func surchargeOfAllShelves(_ target: RequestTarget) -> Int {
        asksForAllShelves(target) ? Self.surcharge(target) + Self.pointsForUnion : 0
    }

    /// Returns whether a request for the products of a store is for a page of all its shelves, and not for a list by SKU. Such a request
    /// has a sort, a search, a filter, facets, a total or collapsed groups, or the cursor of such a page.
    func asksForAllShelves(_ target: RequestTarget) -> Bool {
        if Self.hasFilter(target) || Self.namesOfAllShelves.contains(where: { !target.values($0).isEmpty }) {
            return true
        }
        if Self.flagsOfAllShelves.contains(where: { (try? target.flag($0)) == true }) { return true }
        guard let cursor = try? target.cursor(cursors), let store = target.store else { return false }
        return PageRequest.isCursor(cursor, ofAllShelvesIn: store)
    }

    /// The points for reading several shelves, in addition to those for one.
    static let pointsForUnion = 4

    /// The parameters that only pages have, apart from filters, and those of them that are flags. Lists by SKU have the others, too.
    private static let (namesOfAllShelves, flagsOfAllShelves) = (["sort", "facets", "q"], ["total", "collapse"])

    /// The parameters of pages that are not filters by attributes.
    private static let parameterNames = Set(
        PageRequest.parameterNames + ["sku", "barcode"] + FilterKey.allCases.map(\.name)
    )

    private static func hasFilter(_ target: RequestTarget) -> Bool {
        FilterKey.allCases.contains { !target.values($0.name).isEmpty }
            || !target.attributeFilters(apartFrom: parameterNames).isEmpty
    }

    /// The points for groups. They are charged afterwards if the shelf or the user asks for them, and not the request.
    private static let pointsForGroups = 2

    /// The points for cards with their members: a page has up to 20 times as many products.
    private static let pointsForMembers = 9

    /// The points for a page that may scan its shelf, or several: with facets, a search, filters, several sort keys, descendants or groups.
    private static func surcharge(_ target: RequestTarget) -> Int {
        let facets = target.values("facets").isEmpty ? 0 : 9
        let filters = hasFilter(target) ? 2 : 0
        let keys = target.values("sort").contains { $0.contains(",") } ? 2 : 0
        let union = target.values("include").isEmpty ? 0 : pointsForUnion
        let groups = (try? target.collapsesGroups()) == true ? pointsForGroups : 0
        let members = (try? target.flag("members")) == true ? pointsForMembers : 0
        return facets + filters + keys + union + SearchCost.surcharge(target) + groups + members
    }

    /// A request for a page, with everything but the basis that its response depends on.
    private final class AskedPage: Sendable {
        let call: Call
        let plans: PagePlans
        let request: PageRequest
        /// The UTC day to which the popularity of products is scaled.
        let day = Timestamp.now().day

        init(_ call: Call, _ plans: PagePlans) {
            (self.call, self.plans, request) = (call, plans, plans.request(by: call.caller?.user))
        }

        /// Searches are not kept where others may read them.
        var cacheControl: String { request.sort == nil || request.isSearch ? "private, no-cache" : "public, no-cache" }
        var headers: HTTPFields {
            [.vary: request.requested.isDefault ? "Authorization, Accept-Encoding" : "Accept-Encoding"]
        }

        /// - Throws: as `PageRequest.plan`.
        func plan(_ basis: PageBasis) throws(CatalogError) -> TaggedPlan { try plans.plan(request, basis, day: day) }
    }

    /// Responds with the page at the current version of its shelf, from the first that has it: the client's cache (304), the server's cache
    /// of pages, or the shelf in memory. A union is read within a time limit, and not on an event loop.
    ///
    /// - Parameter shelf: nil for all shelves of the store.
    func page(_ call: Call, of shelf: CatalogKey?) async throws -> Response {
        let asked = AskedPage(call, try call.route.plans { PagePlans(try self.request(call, shelf), path: call.path) })
        // The query does not say that the cursor is that of a search.
        if asked.request.isSearch, asked.request.search == nil { call.work.add(points: SearchCost.search) }
        var (plan, response): (TaggedPlan?, Response?)
        let read = try await store.read(asked.request) { basis throws(CatalogError) in
            let found = try asked.plan(basis)
            (plan, response) = (found, known(asked, found))
            return response != nil
        }
        if let response { return response }
        if case .shelf(let shelf) = read {
            return try await rendered(asked, try plan ?? asked.plan(shelf.basis), shelf)
        }
        // The query does not say that the shelf includes those below it.
        if shelf != nil, asked.request.includesDescendants == nil { call.work.add(points: Self.pointsForUnion) }
        // A page of all shelves already has a deadline.
        if call.deadline != nil { return try await union(asked) }
        return try await call.within(TimeLimit.lookup.request) { _ in try await union(asked) }
    }

    private func union(_ asked: AskedPage) async throws -> Response {
        let union = try await store.currentUnion(asked.request)
        let plan = try asked.plan(union.basis)
        if let response = known(asked, plan) { return response }
        return try await rendered(asked, plan, union)
    }

    /// Returns the response to a request whose page the client or the cache has; otherwise nil.
    private func known(_ asked: AskedPage, _ plan: TaggedPlan) -> Response? {
        if let tag = asked.call.knownTag(of: plan.tag) {
            observer.observe(.pageReturned(.notModified))
            return .notModified(tag, asked.cacheControl, asked.headers)
        }
        guard let cached = cache.page(plan.key, tag: plan.tag) else { return nil }
        observer.observe(.pageReturned(.cached))
        return cache.response(cached, plan.key, for: asked.call)
    }

    private func rendered(_ asked: AskedPage, _ plan: TaggedPlan, _ current: any CurrentShelf) async throws -> Response
    {
        let page = try await current.page(
            plan.plan,
            into: RenderedProducts(current.basis.head.store, day: asked.day, fragments)
        )
        observer.observe(.pageReturned(.rendered))
        asked.call.work.add(page.search, indexedProducts: current.indexedProducts)
        if plan.plan.collapsesGroups, asked.request.collapsesGroups != true {
            asked.call.work.add(points: Self.pointsForGroups)
        }
        let cursor = page.next.map { cursors.encode($0) }
        var headers = asked.headers
        for field in asked.call.nextLink(parameters(asked.request, plan.plan), cursor) { headers.append(field) }
        headers[.contentType] = "application/json"
        headers[.cacheControl] = asked.cacheControl
        headers[.eTag] = plan.tag
        let body = StepRecorder.measure(.rendering, "page") { page.json(day: asked.day, nextCursor: cursor) }
        return cache.insert(headers, body, plan.key, tag: plan.tag).response(acceptsGzip: false)
    }

    /// Returns the request of a target, without a user.
    private func request(_ call: Call, _ shelf: CatalogKey?) throws -> PageRequest {
        var request = PageRequest(
            store: try call.parameters.store,
            shelf: shelf,
            sort: try call.target.sort(),
            filter: try call.filter(),
            search: try call.target.search(),
            facets: try call.target.value("facets").map { text throws(CatalogError) in try Facet.parse(text) } ?? [],
            wantsTotal: try call.target.flag("total"),
            limit: try call.target.limit(),
            after: try call.target.cursor(cursors)
        )
        request.includesDescendants = try call.target.includesDescendants()
        request.collapsesGroups = try call.target.collapsesGroups()
        request.wantsMembers = try call.target.flag("members")
        if request.asksForUnion { try request.check() }
        return request
    }

    /// Returns the parameters of the next page, apart from the cursor.
    private func parameters(_ request: PageRequest, _ plan: PagePlan) -> String {
        var query = "limit=\(plan.limit)\(request.includesDescendants == true ? "&include=descendants" : "")"
        if request.sort != nil { query = "sort=\(plan.sort.description)&" + query }
        if let search = request.search { query = "q=\(PercentEncoding.encode(search.text))&" + query }
        if let collapses = request.collapsesGroups { query += "&collapse=\(collapses)" }
        if request.wantsMembers { query += "&members=true" }
        if let filter = request.filter { query = "\(filter.query)&\(query)" }
        return query
    }

    /// Whether all products that were rendered have room in the memory.
    var hasRoom: Bool { fragments.use.evictions == 0 }

    /// Renders products of a shelf, so that the first pages find the products and the shelf's settings in memory. Errors do not matter.
    func warmUp(_ shelf: ShelfAddress) async {
        var request = PageRequest(store: shelf.store, shelf: shelf.shelf, limit: PageRequest.limits.upperBound)
        // A union may need shelves that are not in memory.
        request.includesDescendants = false
        let day = Timestamp.now().day
        guard let current = try? await store.current(request), let plan = try? PlannedPage(request, current.basis).plan
        else { return }
        _ = try? await current.page(plan, into: RenderedProducts(current.basis.head.store, day: day, fragments))
    }

    private func order(_ call: Call) async throws -> Response {
        let (sort, filter) = (try call.target.sort(), try call.filter())
        let search = try call.target.search()
        let requested = RequestedSort(
            sort: sort,
            filter: filter,
            search: search,
            collapsesGroups: try call.target.collapsesGroups()
        )
        var request = OrderRequest(
            address: try call.shelf,
            requested: requested,
            user: requested.isDefault ? call.caller?.user : nil
        )
        request.includesDescendants = try call.target.includesDescendants()
        let order = try await store.order(request)
        call.work.add(rows: order.list.count)
        call.work.add(order.search, indexedProducts: order.indexedProducts)
        // The manual order's tag depends only on the order version: a price change does not make it stale.
        let state = order.head.state
        var hash = FNV64()
        hash.combine(order.head.text(of: order.resolvedSort))
        if let union = order.union { hash.combine(union.digest) }
        let contentTag = "\(order.head.storeVersion)-\(state.version)-\(String(hash.value, radix: 36))"
        let manual = "order-\(state.orderVersion)"
        // A filtered manual order depends on more, as does one of groups, but edits still check the order version.
        let isWhole = filter == nil && search == nil && !order.resolvedSort.collapsesGroups
        let tag =
            sort != .position ? "\"\(contentTag)\"" : isWhole ? "\"\(manual)\"" : "\"\(manual)-\(contentTag)\""
        let control = sort == nil || search != nil ? "private, no-cache" : "public, no-cache"
        let headers: HTTPFields = requested.isDefault ? [.vary: "Authorization"] : [:]
        return call.tagged(tag, cache: control, headers: headers, order.json)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listShelfProducts = Operation(
        "listShelfProducts",
        .shelfProducts,
        "Get a page of a shelf",
        """
        Returns a page of the shelf's products in a sort. Follow `next_cursor` until it is null. \
        With `include=descendants`, the page shows the products of the shelf and of all shelves \
        below it, each once, with the rules of the shelf for sold-out products and unit prices; \
        the manual order is not available then. Attributes of the store are filters, too, such as \
        `rating_min=4` or `allergens_none=nuts`. With `q`, the page shows the products that a search finds, by \
        default the best matches first, and the parts of their texts that match. With `collapse`, it shows one card \
        for each group of products, `page.total` and facets count groups, and `members` adds the products of each group.
        """,
        parameters: [.sort, .search, .limit, .cursor, .facets, .total, .include, .collapse, .members]
            + Parameter.filters,
        [200: .json("A page of products.", "Page", [.tag, .contentEncoding, .vary, .link])]
    )

    fileprivate static let getOrder = Operation(
        "getOrder",
        .orders,
        "Get the whole order of a shelf",
        """
        Returns the ids of all products of the shelf, in order, from one moment. \
        Attributes of the store are filters, too. With `q`, the order has the products that a search finds. \
        With `collapse`, it has one id for each group of products: `group/` and its key, or the SKU of a product \
        without a group.
        """,
        parameters: [.sort, .search, .include, .collapse] + Parameter.filters,
        [200: .tagged("The order.", "Order")]
    )
}
