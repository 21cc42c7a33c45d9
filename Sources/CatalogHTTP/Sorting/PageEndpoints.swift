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
                mayReadManyShelves: Self.asksForDescendants,
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
    /// has a sort, a filter, facets or a total, or the cursor of such a page.
    func asksForAllShelves(_ target: RequestTarget) -> Bool {
        if (["sort", "facets"] + FilterKey.allCases.map(\.name)).contains(where: { !target.values($0).isEmpty }) {
            return true
        }
        if let total = try? target.flag("total"), total { return true }
        guard let cursor = try? target.cursor(cursors), let store = target.store else { return false }
        return PageRequest.isCursor(cursor, ofAllShelvesIn: store)
    }

    private static let pointsForUnion = 4

    /// The points for a page that may scan its shelf, or several: with facets, filters, several sort keys or descendants.
    private static func surcharge(_ target: RequestTarget) -> Int {
        let facets = target.values("facets").isEmpty ? 0 : 9
        let filters = FilterKey.allCases.contains { !target.values($0.name).isEmpty } ? 2 : 0
        let keys = target.values("sort").contains { $0.contains(",") } ? 2 : 0
        let union = asksForDescendants(target) ? pointsForUnion : 0
        return facets + filters + keys + union
    }

    private static func asksForDescendants(_ target: RequestTarget) -> Bool { !target.values("include").isEmpty }

    /// Responds with the page at the current version of its shelf, from the first that has it: the client's cache (304), the server's cache
    /// of pages, or the shelf in memory. The entity tag follows from the basis, so only the last one needs the shelf.
    ///
    /// - Parameter shelf: nil for all shelves of the store.
    func page(_ call: Call, of shelf: CatalogKey?) async throws -> Response {
        let target = try call.route.remembering { PageTarget(try self.request(call, shelf), path: call.path) }
        var request = target.request
        if request.sort == nil { request.user = call.caller?.user }
        let day = Timestamp.now().day
        let isShared = request.sort != nil
        let control = isShared ? "public, no-cache" : "private, no-cache"
        var headers: HTTPFields = [.vary: isShared ? "Accept-Encoding" : "Authorization, Accept-Encoding"]
        let found = try await store.current(request) { basis throws(CatalogError) -> Response? in
            let page = try target.page(request, basis, day: day)
            if let known = call.knownTag(of: page.tag) {
                observer.observe(.pageReturned(.notModified))
                return .notModified(known, control, headers)
            }
            guard let cached = cache.page(page.key, tag: page.tag) else { return nil }
            observer.observe(.pageReturned(.cached))
            return cache.response(cached, page.key, for: call)
        }
        let current: any CurrentShelf
        switch found {
        case .answer(let response): return response
        case .shelf(let shelf): current = shelf
        }
        let page = try target.page(request, current.basis, day: day)
        let content = try await current.page(
            page.plan,
            into: RenderedProducts(current.basis.head.store, day: day, fragments)
        )
        observer.observe(.pageReturned(.rendered))
        let token = content.next.map { cursors.encode($0) }
        for field in call.nextLink(parameters(request, page.plan), token) { headers.append(field) }
        headers[.contentType] = "application/json"
        headers[.cacheControl] = control
        headers[.eTag] = page.tag
        let body = StepRecorder.measure(.rendering, "page") { content.json(day: day, nextCursor: token) }
        return cache.insert(headers, body, page.key, tag: page.tag).response(acceptsGzip: false)
    }

    /// Returns the request of a target, without a user.
    private func request(_ call: Call, _ shelf: CatalogKey?) throws -> PageRequest {
        var request = PageRequest(
            store: try call.parameters.store,
            shelf: shelf,
            sort: try call.target.sort(),
            filter: try call.target.filter(),
            facets: try call.target.value("facets").map { text throws(CatalogError) in try Facet.parse(text) } ?? [],
            wantsTotal: try call.target.flag("total"),
            limit: try call.target.limit(),
            after: try call.target.cursor(cursors)
        )
        request.includesDescendants = try call.target.includesDescendants()
        if request.asksForSeveral { try request.check() }
        return request
    }

    /// Returns the parameters of the next page, apart from the cursor.
    private func parameters(_ request: PageRequest, _ plan: PagePlan) -> String {
        var query = "limit=\(plan.limit)\(request.includesDescendants == true ? "&include=descendants" : "")"
        if request.sort != nil { query = "sort=\(plan.sort.description)&" + query }
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
        let (sort, filter) = (try call.target.sort(), try call.target.filter())
        let view = ShelfView(sort: sort, filter: filter)
        var request = OrderRequest(address: try call.shelf, view: view, user: sort == nil ? call.caller?.user : nil)
        request.includesDescendants = try call.target.includesDescendants()
        let order = try await store.order(request)
        call.work.add(rows: order.list.count)
        // The manual order's tag depends only on the order version: a price change does not make it stale.
        let state = order.head.state
        var hash = FNV64()
        hash.combine(order.view.text)
        if let union = order.union { hash.combine(union.digest) }
        let contentTag = "\(order.head.storeVersion)-\(state.version)-\(String(hash.value, radix: 36))"
        let manual = "order-\(state.orderVersion)"
        // A filtered manual order depends on more, but edits still check the order version.
        let tag =
            sort != .position ? "\"\(contentTag)\"" : filter == nil ? "\"\(manual)\"" : "\"\(manual)-\(contentTag)\""
        let control = sort == nil ? "private, no-cache" : "public, no-cache"
        let headers: HTTPFields = sort == nil ? [.vary: "Authorization"] : [:]
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
        the manual order is not available then.
        """,
        parameters: [.sort, .limit, .cursor, .facets, .total, .include] + Parameter.filters,
        [200: .json("A page of products.", "Page", [.tag, .contentEncoding, .vary, .link])]
    )

    fileprivate static let getOrder = Operation(
        "getOrder",
        .orders,
        "Get the whole order of a shelf",
        "Returns the ids of all products of the shelf, in order, from one moment.",
        parameters: [.sort, .include] + Parameter.filters,
        [200: .tagged("The order.", "Order")]
    )
}
