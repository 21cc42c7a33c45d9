internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// Stores and their settings.
struct StoreEndpoints: EndpointGroup {
    let stores: any ShelfStore

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/stores", .optionalToken, timeLimit: nil, list),
            Endpoint(.get, "/v1/stores/{store}", .optionalToken, timeLimit: nil, read),
            // Changing a store's rules may update all of its products.
            Endpoint(
                .put,
                "/v1/stores/{store}",
                .scope(.catalogWrite),
                timeLimit: TimeLimit.store.request,
                cost: 20,
                put
            ),
            Endpoint(
                .delete,
                "/v1/stores/{store}",
                .scope(.catalogWrite),
                timeLimit: TimeLimit.store.request,
                cost: 20,
                delete
            ),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        try call.target.allow()
        let stores = try await stores.stores()
        return call.hashed(JSONWriter.object { $0.array("stores", stores) { $1.write(to: &$0) } })
    }

    private func read(_ call: Call) async throws -> Response {
        try call.target.allow()
        let store = try await stores.store(call.parameters.store)
        return call.hashed(JSONWriter.document { store.write(to: &$0) })
    }

    private func put(_ call: Call) async throws -> Response {
        try call.target.allow()
        let store = try Store(key: call.parameters.store, body: try await call.json())
        let isNew = try await stores.put(store)
        return call.written(isNew, JSONWriter.document { store.write(to: &$0) })
    }

    private func delete(_ call: Call) async throws -> Response {
        try call.target.allow("confirm")
        let store = try call.parameters.store
        let confirmed = try call.target.value("confirm")
        guard confirmed == store.text else {
            let found = confirmed.map { "got “\($0.prefix(64))”" } ?? "missing"
            throw CatalogError.unprocessable(
                field: "confirm",
                detail: """
                    confirm must be the key of the store, “\(store)” (\(found)): its products, shelves, orders and purchases \
                    are deleted
                    """
            )
        }
        _ = try await stores.remove(store: store)
        return .noContent
    }
}
