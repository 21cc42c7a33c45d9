internal import CatalogJSON
internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension CatalogAPI {
    func read(
        _ route: Route,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        switch route {
        case .stores:
            try target.allow()
            let stores = try await catalog.stores()
            return hashed(object { $0.array("stores", stores) { $1.write(to: &$0) } }, request)
        case .store(let key):
            try target.allow()
            let store = try await catalog.store(key)
            return hashed(document { store.write(to: &$0) }, request)
        case .shelves(let store): return try await shelves(store, target, request)
        case .shelf(let store, let key):
            try target.allow()
            let head = try await catalog.shelf(store, key)
            let remembered = try await remembered(caller, store, key)
            let language = Language(accepting: request.headers[.acceptLanguage])
            let view = head.settle(remembering: remembered)
            let options = SortOption.options(selected: view.sort, language: language)
            let filters = FilterOption.options(selected: view.filter, language: language)
            let bytes = document { head.state.write(options: options, filters: filters, to: &$0) }
            return hashed(
                bytes,
                request,
                cache: caller == nil ? "public, no-cache" : "private, no-cache",
                headers: [.vary: "Accept-Language, Authorization"]
            )
        case .page(let store, let shelf): return try await page(store, shelf, target, request, caller)
        case .order(let store, let shelf): return try await order(store, shelf, target, request, caller)
        case .orderDiff(let store, let shelf): return try await diff(store, shelf, target, request, caller)
        case .shelfEvents(let store, let shelf): return try await shelfEvents(store, shelf, target, request, caller)
        case .products(let store): return try await products(store, target, request)
        case .product(let store, let sku):
            try target.allow()
            let placed = try await catalog.product(store, sku)
            let presentation = ProductPresentation(store: placed.store)
            return hashed(document { presentation.write(placed.product, shelves: placed.shelves, to: &$0) }, request)
        case .live: return plain("ok\n")
        case .ready: return try await ready(target)
        case .openAPI: return hashed(OpenAPI.document, request)
        case .demo: return demoParts()
        case .problem(let kind): return page(of: kind, request)
        // What an address says besides is the page's own affair.
        case .web(let asset): return web(asset.bytes, asset.mediaType, request)
        case .orderChanges(let store, let shelf):
            try target.allow()
            let changes = try await catalog.orderHistory(store, shelf)
            return json(object { json in json.array("changes", changes) { $1.write(to: &$0) } }, cache: "no-store")
        case .placement, .imports, .purchases, .prices, .listDiff, .orderMoves, .orderUndo, .shelfMoves, .mySort,
            .mySettings, .mySetting, .myLists,
            .myEvents, .myTickets, .myMerge, .myExport, .me, .demoTokens, .demoStorm:
            throw Problem(.methodNotAllowed, "GET does not apply here")
        }
    }

    private func page(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow("sort", "limit", "cursor", "facets", filters: true)
        var pageRequest = PageRequest(
            store: store,
            shelf: shelf,
            sort: try target.sort(),
            filter: try target.filter(),
            facets: try target.value("facets").map { text throws(CatalogError) in try Facet.parse(text) } ?? [],
            user: caller?.user,
            limit: try target.limit(),
            after: try target.value("cursor").map { text throws(CatalogError) in try cursors.decode(text) },
            knownTags: knownTags(request)
        )
        let isShared = pageRequest.sort != nil
        if isShared { pageRequest.user = nil }
        let cache = isShared ? "public, no-cache" : "private, no-cache"
        var headers: HTTPFields = [:]
        if !isShared { headers[.vary] = "Authorization" }
        let path = request.uri.path
        var kept: PageCache.Page?
        let answer = try await catalog.page(pageRequest) { plan, tag in
            kept = pages.page(PageCache.key(path, plan), tag)
            return kept != nil
        }
        switch answer {
        case .unchanged(let tag):
            guard let kept, !pageRequest.knownTags.contains(tag) else { return notModified(tag, cache, headers) }
            return Response(status: .ok, headers: kept.headers, body: .init(byteBuffer: kept.body))
        case .page(let page, let tag):
            let token = page.next.map { cursors.encode($0) }
            if let token {
                var query = "limit=\(page.plan.limit)&cursor=\(token)"
                if isShared { query = "sort=\(page.plan.sort.description)&" + query }
                if let filter = pageRequest.filter { query = "\(filter.query)&\(query)" }
                headers[.init("Link")!] = "<\(path)?\(query)>; rel=\"next\""
            }
            headers[.contentType] = "application/json"
            headers[.cacheControl] = cache
            headers[.eTag] = tag
            let body = ByteBuffer(bytes: page.json(day: Timestamp.now().day, nextCursor: token))
            pages.keep(.init(tag: tag, headers: headers, body: body), as: PageCache.key(path, page.plan))
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: body))
        }
    }

    private func order(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow("sort", filters: true)
        let (sort, filter) = (try target.sort(), try target.filter())
        let remembered = sort == nil ? try await remembered(caller, store, shelf) : .none
        let order = try await catalog.order(store, shelf, sort, filter: filter, remembering: remembered)
        // The manual order's tag stands for its own version alone: a price elsewhere does not make it stale.
        let state = order.head.state
        var hash = FNV64()
        hash.combine(order.view.text)
        let whole = "\(order.head.storeVersion)-\(state.version)-\(String(hash.value, radix: 36))"
        let manual = "order-\(state.orderVersion)"
        // What a filter leaves of the manual order depends on more, and is arranged by the same version.
        let tag = sort != .position ? "\"\(whole)\"" : filter == nil ? "\"\(manual)\"" : "\"\(manual)-\(whole)\""
        let cache = sort == nil ? "private, no-cache" : "public, no-cache"
        var headers: HTTPFields = [:]
        if sort == nil { headers[.vary] = "Authorization" }
        if knownTags(request).contains(tag) { return notModified(tag, cache, headers) }
        headers[.contentType] = "application/json"
        headers[.cacheControl] = cache
        headers[.eTag] = tag
        let bytes = order.json
        return Response(status: .ok, headers: headers, body: inPieces(bytes))
    }

    private func shelves(_ store: CatalogKey, _ target: RequestTarget, _ request: Request) async throws -> Response {
        try target.allow("sort", "limit", "cursor")
        var listing = ShelvesRequest(store: store)
        if let text = try target.value("sort") {
            guard let sort = ShelfSort(rawValue: text) else {
                throw CatalogError.malformed(
                    parameter: "sort",
                    detail: "no such sort of shelves: “\(text.prefix(64))”",
                    allowed: ShelfSort.allCases.map(\.rawValue)
                )
            }
            listing.sort = sort
        }
        listing.limit = try target.limit()
        listing.after = try target.value("cursor").map { text throws(CatalogError) in try cursors.decode(text) }
        let page = try await catalog.shelves(listing)
        let token = page.next.map { cursors.encode($0) }
        let bytes = object { json in
            json.array("shelves", page.shelves) { $1.write(to: &$0) }
            writePage(listing.limit, token, &json)
        }
        let headers = next(request, "sort=\(listing.sort.rawValue)&limit=\(listing.limit)", token)
        return hashed(bytes, request, headers: headers)
    }

    private func products(_ store: CatalogKey, _ target: RequestTarget, _ request: Request) async throws -> Response {
        try target.allow("sku", "limit", "cursor")
        let wanted = target.values("sku")
        if wanted.isEmpty {
            let limit = try target.limit()
            let after = try target.value("cursor").map { text throws(CatalogError) in try cursors.decode(text) }
            let page = try await catalog.products(store, after: after, limit: limit)
            let token = page.next.map { cursors.encode($0) }
            let presentation = ProductPresentation(store: page.store)
            let bytes = object { json in
                json.array("products", page.products) { presentation.write($1, to: &$0) }
                writePage(limit, token, &json)
            }
            return hashed(bytes, request, headers: next(request, "limit=\(limit)", token))
        }
        guard wanted.count <= 100 else {
            throw CatalogError.malformed(parameter: "sku", detail: "at most 100 products at once")
        }
        let page = try await catalog.products(store, wanted.compactMap { SKU($0) })
        let found = Dictionary(page.products.map { ($0.sku.text, $0) }, uniquingKeysWith: { a, _ in a })
        let presentation = ProductPresentation(store: page.store)
        let bytes = object { json in
            json.array("products", wanted.compactMap { found[$0] }) { presentation.write($1, to: &$0) }
            json.array("missing", wanted.filter { found[$0] == nil }) { $0.string($1) }
        }
        return hashed(bytes, request)
    }

    /// What the caller remembers for a shelf.
    func remembered(
        _ caller: Caller?,
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws -> RememberedViews {
        guard let caller else { return .none }
        return try await catalog.rememberedViews(caller.user, store, shelf)
    }

    // MARK: - Parts

    func object(_ body: (inout JSONText) -> Void) -> [UInt8] { document { $0.object(body) } }

    func document(_ body: (inout JSONText) -> Void) -> [UInt8] {
        var json = JSONText()
        body(&json)
        return json.bytes
    }

    /// A body in pieces, so that a slow reader does not hold all of it in the connection's buffer.
    func inPieces(_ bytes: [UInt8]) -> ResponseBody {
        ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: 0, to: bytes.count, by: 64 << 10) {
                try await writer.write(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + 64 << 10)]))
            }
            try await writer.finish(nil)
        }
    }

    private func writePage(_ limit: Int, _ token: String?, _ json: inout JSONText) {
        json.object("page") { json in
            json.field("limit", limit)
            json.field("next_cursor", token)
        }
    }

    private func next(_ request: Request, _ query: String, _ token: String?) -> HTTPFields {
        guard let token else { return [:] }
        return [.init("Link")!: "<\(request.uri.path)?\(query)&cursor=\(token)>; rel=\"next\""]
    }

    /// Whether reads and writes work, or with `?for=reads` reads alone.
    private func ready(_ target: RequestTarget) async throws -> Response {
        try target.allow("for")
        let use = try target.value("for") ?? "writes"
        guard ["reads", "writes"].contains(use) else {
            throw CatalogError.malformed(
                parameter: "for",
                detail: "for must be reads or writes (got “\(use.prefix(64))”)",
                allowed: ["reads", "writes"]
            )
        }
        if options.isDraining() {
            var draining = Problem(.unavailable, "the server is draining: it stops once its requests are answered")
            draining.headers[.retryAfter] = "5"
            throw draining
        }
        switch await catalog.readiness() {
        case .ready: return plain("ok\n")
        case .readOnly where use == "reads": return plain("ok\n")
        case .readOnly: throw CatalogError.readOnly
        case .unavailable: throw CatalogError.unavailable
        }
    }

    private func plain(_ text: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }
}
