internal import Catalog
internal import CatalogJSON
internal import Hummingbird
internal import JSON

/// The attributes of the deployment, which all stores have, and those of a store.
struct AttributeEndpoints: EndpointGroup {
    let attributes: any AttributeStore

    var endpoints: [Endpoint] {
        let (all, own) = ("/v1/attributes", "/v1/stores/{store}/attributes")
        return [
            Endpoint(.get, all, .optionalToken, .listAttributes, list),
            Endpoint(.get, all + "/{attribute}", .optionalToken, .getAttribute, read),
            put(all + "/{attribute}", .putAttribute),
            delete(all + "/{attribute}", .deleteAttribute),
            Endpoint(.get, own, .optionalToken, .listStoreAttributes, list),
            Endpoint(.get, own + "/{attribute}", .optionalToken, .getStoreAttribute, read),
            put(own + "/{attribute}", .putStoreAttribute),
            delete(own + "/{attribute}", .deleteStoreAttribute),
        ]
    }

    /// Returns the endpoint of a declaration. It reads the values of all products, and for a new type the settings of all users.
    private func put(_ path: String, _ operation: Operation) -> Endpoint {
        Endpoint(.put, path, .scope(.catalogWrite), operation, timeLimit: TimeLimit.bulk.request, cost: 20, put)
    }

    /// Returns the endpoint of a deletion. It reads the settings of all users.
    private func delete(_ path: String, _ operation: Operation) -> Endpoint {
        Endpoint(.delete, path, .scope(.catalogWrite), operation, timeLimit: TimeLimit.shelf.request, cost: 20, delete)
    }

    private func list(_ call: Call) async throws -> Response {
        call.hashed(try await attributes.attributes(of: call.owner).json)
    }

    private func read(_ call: Call) async throws -> Response {
        call.hashed(try await find(call.parameters.attribute, call.owner).json)
    }

    private func put(_ call: Call) async throws -> Response {
        let (name, owner) = (try call.parameters.attribute, call.owner)
        let (expectation, isConfirmed) = (try call.attributeExpectation, try call.isConfirmed(name))
        let declaration = try AttributeDeclaration(name: name, body: try await call.json())
        let declared = try await attributes.declare(
            declaration,
            for: owner,
            expecting: expectation,
            isConfirmed: isConfirmed
        )
        let unreadable = await attributes.unreadableValues(after: declared, of: owner)
        return call.written(
            declared.isNew,
            declared.attribute.json(unreadable: unreadable),
            of: declared.attribute.json
        )
    }

    private func delete(_ call: Call) async throws -> Response {
        let name = try call.parameters.attribute
        try await attributes.remove(
            attribute: name,
            of: call.owner,
            expecting: call.attributeExpectation,
            isConfirmed: call.isConfirmed(name)
        )
        return .noContent
    }

    private func find(_ name: AttributeName, _ owner: DeclarationOwner) async throws -> EffectiveAttribute {
        guard let found = try await attributes.attributes(of: owner)[name] else {
            throw CatalogError.unknownAttribute(name, of: owner)
        }
        return found
    }
}

extension Call {
    /// Returns whether the query confirms a change of an attribute by its name.
    ///
    /// - Throws: `unprocessable` for another name.
    fileprivate func isConfirmed(_ name: AttributeName) throws(CatalogError) -> Bool {
        guard let confirmed = try target.value("confirm") else { return false }
        guard confirmed == name.text else {
            throw .unprocessable(
                field: "confirm",
                detail: "confirm must be the name of the attribute, “\(name)” (got “\(confirmed.prefix(64))”)"
            )
        }
        return true
    }

    /// The expectation of `If-Match`; nil without the header.
    ///
    /// - Throws: `malformed` for a tag that no attribute has.
    fileprivate var attributeExpectation: AttributeExpectation? {
        get throws(CatalogError) {
            try hashExpectation("an attribute, such as \"pV3XbQ9c_1Zk0a2r\"") { $0.json }
        }
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listAttributes = Operation(
        "listAttributes",
        .attributes,
        "List the attributes of the deployment",
        "Returns the attributes of the deployment, which all stores have, by name.",
        [200: .tagged("The attributes.", "AttributeList")]
    )

    fileprivate static let getAttribute = Operation(
        "getAttribute",
        .attributes,
        "Get an attribute of the deployment",
        "Returns an attribute of the deployment, which all stores have.",
        [200: .tagged("The attribute.", "Attribute")]
    )

    fileprivate static let putAttribute = Operation(
        "putAttribute",
        .attributes,
        "Declare an attribute of the deployment",
        """
        Declares an attribute of products in all stores, or replaces its declaration. The token must not have the claim \
        `stores`. \(keptValues) A type that contradicts the declaration of a store returns 409, and so does another type for \
        a number that a ratio uses. \(confirmed)
        """,
        parameters: [.attributeConfirm, .attributeIfMatch],
        body: .json("AttributeInput"),
        [
            200: .tagged("The attribute was changed.", "DeclaredAttribute"),
            201: .created("The attribute was declared.", "DeclaredAttribute"), 409: .component("AttributeConflict"),
        ]
    )

    fileprivate static let deleteAttribute = Operation(
        "deleteAttribute",
        .attributes,
        "Delete an attribute of the deployment",
        """
        Deletes the declaration of an attribute, and the titles that stores give to it. Products keep their values. The \
        token must not have the claim `stores`. A number that a ratio uses returns 409. \(confirmed)
        """,
        parameters: [.attributeConfirm, .attributeIfMatch],
        [204: .noContent, 409: .component("AttributeConflict"), 422: .component("Unprocessable")]
    )

    fileprivate static let listStoreAttributes = Operation(
        "listStoreAttributes",
        .attributes,
        "List the attributes of a store",
        "Returns the attributes in effect in a store, by name: those of the deployment, with the store's titles, and its own.",
        [200: .tagged("The attributes.", "AttributeList")]
    )

    fileprivate static let getStoreAttribute = Operation(
        "getStoreAttribute",
        .attributes,
        "Get an attribute of a store",
        "Returns an attribute in effect in a store.",
        [200: .tagged("The attribute.", "Attribute")]
    )

    fileprivate static let putStoreAttribute = Operation(
        "putStoreAttribute",
        .attributes,
        "Declare an attribute for a store",
        """
        Declares an attribute of the store's products, or replaces its declaration. An attribute of the deployment keeps its \
        type: the store only gives other titles to it and to its values, without `type`, or with the same properties. \
        \(keptValues) \(confirmed)
        """,
        parameters: [.attributeConfirm, .attributeIfMatch],
        body: .json("AttributeInput"),
        [
            200: .tagged("The attribute was changed.", "DeclaredAttribute"),
            201: .created("The attribute was declared.", "DeclaredAttribute"), 409: .component("AttributeConflict"),
        ]
    )

    fileprivate static let deleteStoreAttribute = Operation(
        "deleteStoreAttribute",
        .attributes,
        "Delete an attribute of a store",
        """
        Deletes the store's declaration of an attribute, or its titles for an attribute of the deployment. Products keep \
        their values. A number that a ratio uses returns 409. \(confirmed)
        """,
        parameters: [.attributeConfirm, .attributeIfMatch],
        [204: .noContent, 409: .component("AttributeConflict"), 422: .component("Unprocessable")]
    )

    private static let confirmed = """
        An attribute in use is not deleted, and keeps its type, unless `confirm` has its name. The response is \
        409 `in-use`, and `uses` has the remembered sorts and filters, default sorts and import profiles.
        """

    private static let keptValues = """
        Products keep their values: those of another type count as missing until they change, and `unreadable_products` has \
        their number. The values are counted after the declaration, which takes effect at once. `unreadable_products` is null \
        if the type and its properties did not change, or if counting takes too long.
        """
}
