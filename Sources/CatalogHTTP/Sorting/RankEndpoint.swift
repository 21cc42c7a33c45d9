internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The ranks of products on a shelf.
struct RankEndpoint: EndpointGroup {
    let pages: any PageStore
    let responses: any ResponseStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post,
                "/v1/stores/{store}/shelves/{shelf}/order/rank",
                .optionalToken,
                .rankProducts,
                timeLimit: TimeLimit.shelf.request,
                cost: 10,
                surcharge: SearchCost.surcharge,
                isCostly: true,
                isReadOnly: true,
                readsReplicas: true,
                rank
            )
        ]
    }

    private func rank(_ call: Call) async throws -> Response {
        let (filter, search) = (try call.filter(), try call.target.search())
        let bytes = try await call.bytes()
        let once: IdempotentCall<RecordedResponse>? = try call.idempotentCall(bytes)
        let store = try call.parameters.store
        let first = try await responses.recorded(once, in: store)
        if let first, !first.body.isEmpty { return .outcome(first.body, mediaType: first.mediaType) }
        var reader = try BodyReader(try BodyLoader.json(bytes))
        let (skus, sort) = (try reader.ids("skus"), try reader.sort("sort", allowsRelevance: true))
        try reader.end()
        var page = PageRequest(
            store: store,
            shelf: try call.parameters.shelf,
            sort: sort,
            filter: filter,
            search: search
        )
        page.includesDescendants = try call.target.includesDescendants()
        page.collapsesGroups = try call.target.collapsesGroups()
        if page.requested.isDefault { page.user = call.caller?.user }
        let ranks = try await pages.ranks(RankRequest(page: page, skus: skus))
        call.work.add(rows: ranks.count)
        call.work.add(ranks.search, indexedProducts: ranks.indexedProducts)
        let body = ranks.json
        if let once, first == nil { try await responses.record(body, of: once, in: store) }
        return .outcome(body)
    }
}

extension ResponseStore {
    /// The maximum size of a response that is recorded, in bytes.
    private static var recordLimit: Int { 16 << 10 }

    /// Returns the recorded response to a repeated request that changes nothing; its body is empty if it must be computed again.
    func recorded(
        _ once: IdempotentCall<RecordedResponse>?,
        in store: CatalogKey?
    ) async throws -> RecordedResponse? {
        guard let once, let first = try await firstResponse(once.key, in: store) else { return nil }
        return try first.response(to: once)
    }

    /// Records the response to a request that changes nothing.
    ///
    /// A long response is computed again by a repeat: such a request must not fill the disk. Then, an empty record reserves the key.
    func record(
        _ body: [UInt8],
        _ mediaType: String = "application/json",
        of once: IdempotentCall<RecordedResponse>,
        in store: CatalogKey
    ) async throws {
        let isShort = body.count <= Self.recordLimit
        try await record(RecordedResponse(mediaType: mediaType, body: isShort ? body : []), of: once, in: store)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let rankProducts = Operation(
        "rankProducts",
        .orders,
        "Get the ranks of products",
        """
        Returns each product's rank, the number of products in the order, the compared values and the neighbours, or the \
        reason for a missing rank. All ranks are from one moment. It changes nothing. \
        Attributes of the store are filters, too. With `q`, the ranks are those among the products that a search finds. \
        With `collapse`, the rank of a product is that of its group.
        """,
        parameters: [.search, .idempotencyKey, .include, .collapse] + Parameter.filters,
        body: .json("RankInput"),
        [200: .json("The ranks.", "Ranks"), 400: .component("BadSortRequest")]
    )
}
