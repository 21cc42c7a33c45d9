internal import JSON
internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// The manual order of a shelf.
struct ManualOrderEndpoints: EndpointGroup {
    let orders: any ManualOrderStore

    var endpoints: [Endpoint] {
        let order = "/v1/stores/{store}/shelves/{shelf}/order"
        func edit(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ operation: Operation,
            _ read: @escaping @Sendable (JSONValue?) throws(CatalogError) -> ManualOrderEdit
        ) -> Endpoint {
            Endpoint(
                method,
                path,
                .scope(.orderWrite),
                operation,
                body: .large,
                timeLimit: TimeLimit.shelf.request,
                cost: 5
            ) {
                try await self.edit($0, read)
            }
        }
        return [
            edit(.put, order, .setOrder, ManualOrderEdit.whole),
            edit(.post, order + "/moves", .moveProducts, ManualOrderEdit.moves),
            edit(.post, order + "/undo", .undoOrderChange, ManualOrderEdit.undo),
            // Requires the scope, because the history names users.
            Endpoint(.get, order + "/changes", .scope(.orderWrite), .listOrderChanges, history),
        ]
    }

    private func edit(
        _ call: Call,
        _ read: (JSONValue?) throws(CatalogError) -> ManualOrderEdit
    ) async throws -> Response {
        let (body, once) = try await call.recordableBody(recording: ManualOrderOutcome.self)
        let request = OrderEditRequest(
            store: try call.parameters.store,
            shelf: try call.parameters.shelf,
            edit: try read(body),
            expected: try call.expectedOrderVersions,
            subject: call.caller?.user.text,
            wantsIndexes: try call.target.flag("indexes")
        )
        let outcome = try await orders.editOrder(request, once: once)
        return .outcome(outcome.json, tag: Call.orderTag(outcome.orderVersion))
    }

    private func history(_ call: Call) async throws -> Response {
        let changes = try await orders.orderHistory(call.parameters.store, call.parameters.shelf)
        return .json(JSONWriter.object { $0.array("changes", changes) { $1.write(to: &$0) } }, cache: "no-store")
    }
}

extension Call {
    /// The order versions that `If-Match` accepts; nil for any.
    ///
    /// - Throws: `malformed` for a tag of another kind.
    var expectedOrderVersions: Set<Int64>? {
        get throws(CatalogError) {
            // The tag of a filtered order has its content's hash behind the version.
            let expected = try expectation("the manual order, such as \"order-7\" of GET …/order?sort=position") {
                tag in
                tag.hasPrefix("order-") ? Int64(tag.dropFirst(6).prefix { $0 != "-" }) : nil
            }
            return expected?.versions
        }
    }

    /// Returns the entity tag of a manual order.
    static func orderTag(_ version: Int64) -> String { "\"order-\(version)\"" }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listOrderChanges = Operation(
        "listOrderChanges",
        .orders,
        "List the changes to the manual order",
        """
        Returns the latest changes to the manual order: up to 50 changes that can be undone, and \
        up to 50 undos.
        """,
        [200: .json("The changes.", "OrderHistory")]
    )

    fileprivate static let setOrder = Operation(
        "setOrder",
        .orders,
        "Set the whole manual order",
        "Sets the whole manual order of the shelf, or copies the current order of a sort into it.",
        parameters: [.indexes, .orderIfMatch, .idempotencyKey],
        body: .json("OrderInput"),
        [
            200: .tagged("The order was set.", "OrderEdit"), 400: .component("BadSortRequest"),
            409: .component("OrderConflict"),
        ]
    )

    fileprivate static let moveProducts = Operation(
        "moveProducts",
        .orders,
        "Move products in the manual order",
        "Moves products in the manual order of the shelf. All moves apply, or none.",
        parameters: [.indexes, .orderIfMatch, .idempotencyKey],
        body: .json("ManualMoves"),
        [
            200: .tagged("The products were moved.", "OrderEdit"), 400: .component("BadSortRequest"),
            409: .component("OrderConflict"),
        ]
    )

    fileprivate static let undoOrderChange = Operation(
        "undoOrderChange",
        .orders,
        "Undo a change to the manual order",
        """
        Undoes the last change to the manual order that is in effect. Up to 50 changes can be \
        undone, one after another.
        """,
        parameters: [.indexes, .orderIfMatch, .idempotencyKey],
        body: .optionalJSON("UndoInput"),
        [
            200: .tagged("The change was undone.", "OrderEdit"), 400: .component("BadSortRequest"),
            409: .component("OrderConflict"),
        ]
    )
}
