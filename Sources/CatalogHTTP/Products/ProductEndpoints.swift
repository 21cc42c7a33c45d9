internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// Products, and the shelves on which they are placed.
struct ProductEndpoints: EndpointGroup {
    let products: any ProductStore
    let stores: any ShelfStore
    let pages: PageEndpoints
    let cursors: CursorCodec

    var endpoints: [Endpoint] {
        let product = "/v1/stores/{store}/products/{sku}"
        let placement = "/v1/stores/{store}/shelves/{shelf}/products/{sku}"
        return [
            Endpoint(
                .get,
                "/v1/stores/{store}/products",
                .optionalToken,
                timeLimit: TimeLimit.shelf.request,
                cost: 2,
                surcharge: pages.surchargeOfAllShelves,
                readsReplicas: true,
                list
            ),
            Endpoint(.get, product, .optionalToken, timeLimit: nil, read),
            Endpoint(.put, product, .scope(.productsWrite), cost: 5, put),
            Endpoint(.patch, product, .scope(.productsWrite), cost: 5, patch),
            Endpoint(.delete, product, .scope(.productsWrite), cost: 5, delete),
            Endpoint(.put, placement, .scope(.productsWrite), cost: 5, place),
            Endpoint(.delete, placement, .scope(.productsWrite), cost: 5, unplace),
        ]
    }

    /// The maximum number of products per request.
    private static let namedLimit = 100

    /// Responds with a page of all shelves of the store if it is sorted, filtered or counted, and otherwise with the products by SKU.
    private func list(_ call: Call) async throws -> Response {
        let requestedSKUs = call.target.values("sku")
        if pages.asksForAllShelves(call.target) {
            guard requestedSKUs.isEmpty else {
                throw CatalogError.malformed(
                    parameter: "sku",
                    detail:
                        "sku names the products in the order to return; leave out sort, filters, facets, total and the cursor of a page"
                )
            }
            return try await pages.page(call, of: nil)
        }
        try call.target.allow("sku", "limit", "cursor", "total")
        _ = try call.target.flag("total")
        let limit = try call.target.limit()
        let after = try call.target.cursor(cursors)
        guard requestedSKUs.isEmpty else { return try await list(requestedSKUs, call) }
        let page = try await products.products(call.parameters.store, after: after, limit: limit)
        let token = page.next.map { cursors.encode($0) }
        let presentation = ProductPresentation(store: page.store)
        let bytes = JSONWriter.object { json in
            json.array("products", page.products) { presentation.write($1, to: &$0) }
            json.page(limit, token)
        }
        return call.hashed(bytes, headers: call.nextLink("limit=\(limit)", token))
    }

    private func list(_ named: [String], _ call: Call) async throws -> Response {
        guard named.count <= Self.namedLimit else {
            throw CatalogError.malformed(
                parameter: "sku",
                detail: "sku has \(named.count) values; the maximum is \(Self.namedLimit)"
            )
        }
        let page = try await products.products(call.parameters.store, named.compactMap { SKU($0) })
        let found = Dictionary(page.products.map { ($0.sku.text, $0) }, uniquingKeysWith: { a, _ in a })
        let presentation = ProductPresentation(store: page.store)
        let bytes = JSONWriter.object { json in
            json.array("products", named.compactMap { found[$0] }) { presentation.write($1, to: &$0) }
            json.array("missing", named.filter { found[$0] == nil }) { $0.string($1) }
        }
        return call.hashed(bytes)
    }

    private func read(_ call: Call) async throws -> Response {
        try call.target.allow()
        let placed = try await products.product(call.parameters.store, call.parameters.sku)
        return call.hashed(placed.json)
    }

    private func put(_ call: Call) async throws -> Response {
        try call.target.allow()
        let store = try await stores.store(call.parameters.store)
        let body = try await call.json()
        return try await put(
            try Product(sku: call.parameters.sku, currency: store.currency, body: body),
            store,
            call
        )
    }

    private func patch(_ call: Call) async throws -> Response {
        try call.target.allow()
        let patch = try await call.json(types: Call.patchTypes)
        let sku = try call.parameters.sku
        return try await MergePatch.retryingConflicts {
            let placed = try await products.product(call.parameters.store, sku)
            let presentation = ProductPresentation(store: placed.store)
            let merged = try MergePatch.apply(patch) { presentation.write(placed.product, to: &$0) }
            let product = try Product(sku: sku, currency: placed.store.currency, body: merged)
            return try await put(product, placed.store, call, replacing: placed.product.modifiedAt)
        }
    }

    private func put(
        _ product: Product,
        _ store: Store,
        _ call: Call,
        replacing expected: Timestamp? = nil
    ) async throws -> Response {
        let isNew = try await products.put(product, in: store.key, pricedIn: store.currency, replacing: expected)
        return call.written(isNew, try await products.product(store.key, product.sku).json)
    }

    private func delete(_ call: Call) async throws -> Response {
        try call.target.allow()
        try await products.remove(product: call.parameters.sku, from: call.parameters.store)
        return .noContent
    }

    private func place(_ call: Call) async throws -> Response {
        try call.target.allow()
        let bytes = try await call.bytes(types: nil)
        if !bytes.isEmpty { try BodyReader(try BodyLoader.json(bytes)).end() }
        let parameters = call.parameters
        let isNew = try await products.place(parameters.sku, on: parameters.shelf, in: parameters.store)
        return Response(status: isNew ? .created : .noContent)
    }

    private func unplace(_ call: Call) async throws -> Response {
        try call.target.allow()
        let parameters = call.parameters
        try await products.unplace(parameters.sku, from: parameters.shelf, in: parameters.store)
        return .noContent
    }
}
