internal import JSON
internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// Shelves, their settings and their order in a store.
struct ShelfEndpoints: EndpointGroup {
    let shelves: any ShelfStore
    let settings: any SettingsStore
    let attributes: any AttributeStore
    let cursors: CursorCodec

    var endpoints: [Endpoint] {
        let shelf = "/v1/stores/{store}/shelves/{shelf}"
        return [
            Endpoint(.get, "/v1/stores/{store}/shelves", .optionalToken, .listShelves, timeLimit: nil, list),
            Endpoint(
                .post,
                "/v1/stores/{store}/shelves/order/moves",
                .scope(.orderWrite),
                .moveShelves,
                body: .large,
                cost: 5,
                move
            ),
            Endpoint(.get, shelf, .optionalToken, .getShelf, timeLimit: nil, read),
            Endpoint(.put, shelf, .scope(.catalogWrite), .putShelf, cost: 5, put),
            Endpoint(.patch, shelf, .scope(.catalogWrite), .patchShelf, cost: 5, patch),
            Endpoint(.delete, shelf, .scope(.catalogWrite), .deleteShelf, cost: 5, delete),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        var request = ShelvesRequest(store: try call.parameters.store)
        if let text = try call.target.value("sort") {
            guard let sort = ShelfSort(rawValue: text) else {
                throw CatalogError.malformed(
                    parameter: "sort",
                    detail: "unknown sort “\(text.prefix(64))”",
                    allowed: ShelfSort.allCases.map(\.rawValue)
                )
            }
            request.sort = sort
        }
        request.limit = try call.target.limit()
        request.after = try call.target.cursor(cursors)
        let page = try await shelves.shelves(request)
        let cursor = page.next.map { cursors.encode($0) }
        let bytes = JSONWriter.object { json in
            json.array("shelves", page.shelves) { $1.write(to: &$0) }
            json.page(request.limit, cursor)
        }
        let link = call.nextLink("sort=\(request.sort.rawValue)&limit=\(request.limit)", cursor)
        return call.hashed(bytes, headers: link)
    }

    private func read(_ call: Call) async throws -> Response {
        let (store, shelf) = (try call.parameters.store, try call.parameters.shelf)
        return call.hashed(
            try await representation(store, shelf, call),
            cache: call.caller == nil ? "public, no-cache" : "private, no-cache",
            headers: [.vary: "Accept-Language, Authorization"]
        )
    }

    /// Returns a shelf with the options of a picker, for the caller and in the caller's language.
    private func representation(_ store: CatalogKey, _ shelf: CatalogKey, _ call: Call) async throws -> [UInt8] {
        let head = try await shelves.shelf(store, shelf)
        var remembered = RememberedSorts.none
        if let caller = call.caller { remembered = try await settings.rememberedSorts(caller.user, store, shelf) }
        let accepted = call.header(.acceptLanguage)
        let language = Language(accepting: accepted)
        let attributes = PickerAttributes(
            try await attributes.titledAttributes(of: head),
            languages: Language.tags(accepting: accepted)
        )
        let resolved = try head.resolve(
            remembering: remembered,
            allowsPositions: !head.state.shelf.includesDescendants,
            attributes: attributes.resolved
        )
        let options = SortOption.options(selected: resolved.sort, language: language, attributes: attributes)
        let filters = FilterOption.options(selected: resolved.filter, language: language, attributes: attributes)
        return JSONWriter.document { head.state.write(options: options, filters: filters, to: &$0) }
    }

    private func put(_ call: Call) async throws -> Response {
        let shelf = try Shelf(key: call.parameters.shelf, body: try await call.json())
        return try await update(call) { _ in shelf }
    }

    private func patch(_ call: Call) async throws -> Response {
        let patch = try await call.json(types: Call.patchTypes)
        let key = try call.parameters.shelf
        return try await update(call) { stored throws(CatalogError) in
            guard let stored else { throw .notFound("shelf “\(key)”") }
            return try stored.merging(patch)
        }
    }

    private func update(
        _ call: Call,
        _ change: @escaping @Sendable (Shelf?) throws(CatalogError) -> Shelf
    ) async throws -> Response {
        let (store, key) = (try call.parameters.store, try call.parameters.shelf)
        let isNew = try await shelves.update(shelf: key, in: store, change)
        return call.written(isNew, try await representation(store, key, call))
    }

    private func delete(_ call: Call) async throws -> Response {
        try await shelves.remove(shelf: call.parameters.shelf, from: call.parameters.store)
        return .noContent
    }

    private func move(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableBody(recording: ManualOrderOutcome.self)
        let outcome = try await shelves.moveShelves(
            try OrderMove.list(body: body),
            in: call.parameters.store,
            expected: try call.expectedOrderVersions,
            once: once
        )
        return .outcome(outcome.json, tag: Call.orderTag(outcome.orderVersion))
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listShelves = Operation(
        "listShelves",
        .shelves,
        "List the shelves of a store",
        "Returns a page of the store's shelves.",
        parameters: [.shelfSort, .limit, .cursor],
        [200: .json("A page of shelves.", "ShelfPage", [.tag, .link])]
    )

    fileprivate static let moveShelves = Operation(
        "moveShelves",
        .shelves,
        "Move shelves in the manual order",
        """
        Moves shelves in the manual order of their store. The ids are shelf keys. All moves \
        apply, or none.
        """,
        parameters: [.shelvesIfMatch, .idempotencyKey],
        body: .json("ManualMoves"),
        [
            200: .tagged("The shelves were moved.", "OrderEdit"), 400: .component("BadSortRequest"),
            409: .component("OrderConflict"),
        ]
    )

    fileprivate static let getShelf = Operation(
        "getShelf",
        .shelves,
        "Get a shelf",
        "Returns a shelf with the sorts and filters that a picker offers.",
        parameters: [.acceptLanguage],
        [200: .tagged("The shelf.", "Shelf")]
    )

    fileprivate static let putShelf = Operation(
        "putShelf",
        .shelves,
        "Create or replace a shelf",
        "Creates a shelf, or replaces all of its settings.",
        body: .json("ShelfInput"),
        [
            200: .tagged("The shelf was replaced.", "Shelf"), 201: .created("The shelf was created.", "Shelf"),
            400: .component("BadSortRequest"),
        ]
    )

    fileprivate static let patchShelf = Operation(
        "patchShelf",
        .shelves,
        "Change a shelf",
        """
        Changes some settings of a shelf (RFC 7396). The media type `application/json` is \
        accepted, too.
        """,
        body: .mergePatch("ShelfPatch"),
        [200: .tagged("The shelf was changed.", "Shelf"), 400: .component("BadSortRequest")]
    )

    fileprivate static let deleteShelf = Operation(
        "deleteShelf",
        .shelves,
        "Delete a shelf",
        """
        Deletes a shelf and its placements. The products stay. If a shelf with this key is \
        created again, its version continues from the old one.
        """,
        [204: .noContent]
    )
}
