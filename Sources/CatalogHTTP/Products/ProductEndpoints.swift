internal import JSON
internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// Products, and the shelves on which they are placed.
struct ProductEndpoints: EndpointGroup {
    let products: any ProductStore
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
                .listProducts,
                timeLimit: TimeLimit.shelf.request,
                cost: 2,
                surcharge: pages.surchargeOfAllShelves,
                readsReplicas: true,
                list
            ),
            Endpoint(.get, product, .optionalToken, .getProduct, timeLimit: nil, read),
            Endpoint(.put, product, .scope(.productsWrite), .putProduct, cost: 5, put),
            Endpoint(.patch, product, .scope(.productsWrite), .patchProduct, cost: 5, patch),
            Endpoint(.delete, product, .scope(.productsWrite), .deleteProduct, cost: 5, delete),
            Endpoint(.put, placement, .scope(.productsWrite), .placeProduct, cost: 5, place),
            Endpoint(.delete, placement, .scope(.productsWrite), .removeProductFromShelf, cost: 5, unplace),
        ]
    }

    /// The maximum number of products per request.
    private static let namedLimit = 100

    /// Responds with a page of all shelves of the store if it is sorted, searched, filtered, counted or collapsed. Otherwise, it responds with
    /// the products by SKU.
    private func list(_ call: Call) async throws -> Response {
        let barcode = try call.target.value("barcode")
        let requestedSKUs = call.target.values("sku")
        if barcode != nil || !requestedSKUs.isEmpty { try Self.checkFilters(call) }
        if let barcode { return try await list(barcode: barcode, call) }
        if pages.asksForAllShelves(call.target) {
            guard requestedSKUs.isEmpty else {
                throw CatalogError.malformed(
                    parameter: "sku",
                    detail:
                        "sku names the products in the order to return; leave out q, sort, filters, facets, total, collapse and the cursor of a page"
                )
            }
            return try await pages.page(call, of: nil)
        }
        for flag in ["total", "collapse", "members"] { _ = try call.target.flag(flag) }
        let limit = try call.target.limit()
        let after = try call.target.cursor(cursors)
        guard requestedSKUs.isEmpty else { return try await list(requestedSKUs, call) }
        let page = try await products.products(call.parameters.store, after: after, limit: limit)
        let cursor = page.next.map { cursors.encode($0) }
        let presentation = ProductPresentation(store: page.store)
        let bytes = JSONWriter.object { json in
            json.array("products", page.products) { presentation.write($1, to: &$0) }
            json.page(limit, cursor)
        }
        return call.hashed(bytes, headers: call.nextLink("limit=\(limit)", cursor))
    }

    /// Checks that a request for named products has no filter by an attribute.
    ///
    /// - Throws: `malformed`.
    private static func checkFilters(_ call: Call) throws(CatalogError) {
        let names = call.endpoint.queryNames ?? []
        guard let other = call.target.attributeFilters(apartFrom: names).first else { return }
        throw .malformed(
            parameter: other,
            detail: "unknown query parameter “\(other)”; a request that names products has no filters by attributes",
            allowed: names,
            hint: other.closest(among: names)
        )
    }

    private func list(barcode: String, _ call: Call) async throws -> Response {
        let names = Operation.listProducts.parameters?.map(\.name) ?? []
        if let other = names.first(where: { $0 != "barcode" && !call.target.values($0).isEmpty }) {
            throw CatalogError.malformed(
                parameter: other,
                detail: "barcode names the products to return; leave out \(other)"
            )
        }
        let page = try await products.products(call.parameters.store, with: Barcode(barcode, parameter: "barcode"))
        let presentation = ProductPresentation(store: page.store)
        return call.hashed(
            JSONWriter.object { $0.array("products", page.products) { presentation.write($1, to: &$0) } }
        )
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
        let placed = try await products.product(call.parameters.store, call.parameters.sku)
        return call.hashed(placed.json)
    }

    private func put(_ call: Call) async throws -> Response {
        let body = try await call.json()
        let sku = try call.parameters.sku
        return try await update(call) { _, store throws(CatalogError) in
            try Product(sku: sku, currency: store.currency, body: body)
        }
    }

    private func patch(_ call: Call) async throws -> Response {
        let patch = try await call.json(types: Call.patchTypes)
        let sku = try call.parameters.sku
        return try await update(call) { stored, store throws(CatalogError) in
            guard let stored else { throw .notFound("product “\(sku)”") }
            return try stored.merging(patch, in: store)
        }
    }

    private func update(
        _ call: Call,
        _ change: @escaping @Sendable (Product?, Store) throws(CatalogError) -> Product
    ) async throws -> Response {
        let (store, sku) = (try call.parameters.store, try call.parameters.sku)
        let effect = try await products.update(sku, in: store, change)
        return call.written(effect == .created, try await products.product(store, sku).json)
    }

    private func delete(_ call: Call) async throws -> Response {
        try await products.remove(product: call.parameters.sku, from: call.parameters.store)
        return .noContent
    }

    private func place(_ call: Call) async throws -> Response {
        let bytes = try await call.bytes(types: nil)
        if !bytes.isEmpty { try BodyReader(try BodyLoader.json(bytes)).end() }
        let parameters = call.parameters
        let isNew = try await products.place(parameters.sku, on: parameters.shelf, in: parameters.store)
        return Response(status: isNew ? .created : .noContent)
    }

    private func unplace(_ call: Call) async throws -> Response {
        let parameters = call.parameters
        try await products.unplace(parameters.sku, from: parameters.shelf, in: parameters.store)
        return .noContent
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listProducts = Operation(
        "listProducts",
        .products,
        "List the products of a store",
        """
        With `sku`, returns these products (at most 100) in the given order. With `barcode`, \
        returns the products with this barcode (at most 100); up to 14 digits are the same with and without \
        zeros before them. With a sort, a search (`q`), a \
        filter, facets, `total` or `collapse`, returns a page of the products on all shelves of the store, \
        each once, with the store's rule for sold-out products; it takes what a page of a shelf \
        takes, except the manual order. Otherwise, returns a page of all products, also of those \
        on no shelf, ordered by sku. \
        Attributes of the store are filters, too.
        """,
        parameters: [
            Parameter("sku", as: "skus"), .barcode, .sort, .search, .limit, .cursor, .facets, .total, .collapse,
            .members,
        ]
            + Parameter.filters,
        [200: .json("The products.", "ProductsOfStore", [.tag, .contentEncoding, .vary, .link])]
    )

    fileprivate static let getProduct = Operation(
        "getProduct",
        .products,
        "Get a product",
        "Returns a product with its shelves.",
        [200: .tagged("The product.", "Product")]
    )

    fileprivate static let putProduct = Operation(
        "putProduct",
        .products,
        "Create or replace a product",
        "Creates a product, or replaces all of its properties. It stays on its shelves.",
        body: .json("ProductInput"),
        [200: .tagged("The product was replaced.", "Product"), 201: .created("The product was created.", "Product")]
    )

    fileprivate static let patchProduct = Operation(
        "patchProduct",
        .products,
        "Change a product",
        """
        Changes some properties of a product (RFC 7396). The media type `application/json` is \
        accepted, too.
        """,
        body: .mergePatch("ProductPatch"),
        [200: .tagged("The product was changed.", "Product")]
    )

    fileprivate static let deleteProduct = Operation(
        "deleteProduct",
        .products,
        "Delete a product",
        "Deletes a product, and removes it from all shelves.",
        [204: .noContent]
    )

    fileprivate static let placeProduct = Operation(
        "placeProduct",
        .shelfProducts,
        "Place a product on a shelf",
        """
        Places a product on a shelf: at the end of the manual order, or where it was before it \
        was removed.
        """,
        body: .ignored,
        [201: .empty("The product was placed."), 204: .empty("The product was already on the shelf.")]
    )

    fileprivate static let removeProductFromShelf = Operation(
        "removeProductFromShelf",
        .shelfProducts,
        "Remove a product from a shelf",
        "Removes a product from a shelf. The product stays in the store.",
        [204: .noContent]
    )
}
