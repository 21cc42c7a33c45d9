internal import JSON
internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// Stores and their settings.
struct StoreEndpoints: EndpointGroup {
    let stores: any ShelfStore

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/stores", .optionalToken, .listStores, timeLimit: nil, list),
            Endpoint(.get, "/v1/stores/{store}", .optionalToken, .getStore, timeLimit: nil, read),
            // Changing a store's rules may update all of its products.
            Endpoint(
                .put,
                "/v1/stores/{store}",
                .scope(.catalogWrite),
                .putStore,
                timeLimit: TimeLimit.store.request,
                cost: 20,
                put
            ),
            Endpoint(
                .delete,
                "/v1/stores/{store}",
                .scope(.catalogWrite),
                .deleteStore,
                timeLimit: TimeLimit.store.request,
                cost: 20,
                delete
            ),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        let stores = try await stores.stores()
        return call.hashed(JSONWriter.object { $0.array("stores", stores) { $1.write(to: &$0) } })
    }

    private func read(_ call: Call) async throws -> Response {
        let store = try await stores.store(call.parameters.store)
        return call.hashed(JSONWriter.document { store.write(to: &$0) })
    }

    private func put(_ call: Call) async throws -> Response {
        let store = try Store(key: call.parameters.store, body: try await call.json())
        let isNew = try await stores.put(store)
        return call.written(isNew, JSONWriter.document { store.write(to: &$0) })
    }

    private func delete(_ call: Call) async throws -> Response {
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

// MARK: - Documentation

extension Operation {
    fileprivate static let listStores = Operation(
        "listStores",
        .stores,
        "List all stores",
        "Returns all stores, by key.",
        [200: .tagged("The stores.", "StoreList")]
    )

    fileprivate static let getStore = Operation(
        "getStore",
        .stores,
        "Get a store",
        "Returns a store with its settings.",
        [200: .tagged("The store.", "Store")]
    )

    fileprivate static let putStore = Operation(
        "putStore",
        .stores,
        "Create or replace a store",
        """
        Creates a store, or replaces all of its settings. Changing the rules of popularity or \
        unit prices updates all products of the store.
        """,
        body: .json("StoreInput"),
        [
            200: .tagged("The store was replaced.", "Store"), 201: .created("The store was created.", "Store"),
            400: .component("BadSortRequest"),
        ]
    )

    fileprivate static let deleteStore = Operation(
        "deleteStore",
        .stores,
        "Delete a store",
        """
        Deletes a store with its products, shelves, orders and purchases, in one transaction. \
        Users keep their settings and lists, and the audit log stays. If a store with this key is \
        created again, it starts empty, and its versions continue from the old ones.
        """,
        parameters: ["confirm"],
        [204: .noContent, 422: .component("Unprocessable")]
    )
}
