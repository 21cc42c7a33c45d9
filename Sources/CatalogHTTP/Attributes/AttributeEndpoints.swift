internal import Catalog
internal import CatalogJSON
internal import Hummingbird
internal import JSON

/// The attributes of all stores, which belong to the deployment, and those of a store.
struct AttributeEndpoints: EndpointGroup {
    let attributes: any AttributeStore

    var endpoints: [Endpoint] {
        let (all, own) = ("/v1/attributes", "/v1/stores/{store}/attributes")
        return [
            Endpoint(.get, all, .optionalToken, .listAttributes, list),
            Endpoint(.get, all + "/{attribute}", .optionalToken, .getAttribute, read),
            put(all + "/{attribute}", .putAttribute),
            Endpoint(.delete, all + "/{attribute}", .scope(.catalogWrite), .deleteAttribute, cost: 5, delete),
            Endpoint(.get, own, .optionalToken, .listStoreAttributes, list),
            Endpoint(.get, own + "/{attribute}", .optionalToken, .getStoreAttribute, read),
            put(own + "/{attribute}", .putStoreAttribute),
            Endpoint(.delete, own + "/{attribute}", .scope(.catalogWrite), .deleteStoreAttribute, cost: 5, delete),
        ]
    }

    /// Returns the endpoint of a declaration. It reads the values of all products.
    private func put(_ path: String, _ operation: Operation) -> Endpoint {
        Endpoint(.put, path, .scope(.catalogWrite), operation, timeLimit: TimeLimit.bulk.request, cost: 20, put)
    }

    private func list(_ call: Call) async throws -> Response {
        call.hashed(try await attributes.attributes(of: call.attributeOwner).json)
    }

    private func read(_ call: Call) async throws -> Response {
        call.hashed(try await find(call.parameters.attribute, call.attributeOwner).json)
    }

    private func put(_ call: Call) async throws -> Response {
        let (name, owner) = (try call.parameters.attribute, call.attributeOwner)
        let declaration = try AttributeDeclaration(name: name, body: try await call.json())
        let isNew = try await attributes.declare(declaration, for: owner)
        let unreadable = try await attributes.unreadableValues(of: name, in: owner)
        let attribute = try await find(name, owner)
        return .json(
            JSONWriter.document { attribute.write(unreadable: unreadable, to: &$0) },
            status: isNew ? .created : .ok,
            headers: isNew ? [.location: call.path] : [:]
        )
    }

    private func delete(_ call: Call) async throws -> Response {
        try await attributes.remove(attribute: call.parameters.attribute, of: call.attributeOwner)
        return .noContent
    }

    private func find(_ name: AttributeName, _ owner: AttributeOwner) async throws -> EffectiveAttribute {
        guard let found = try await attributes.attributes(of: owner)[name] else {
            throw CatalogError.unknownAttribute(name, of: owner)
        }
        return found
    }
}

extension Call {
    /// The store of the path; otherwise the deployment.
    fileprivate var attributeOwner: AttributeOwner { parameters.storeIfNamed.map { .store($0) } ?? .deployment }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listAttributes = Operation(
        "listAttributes",
        .attributes,
        "List the attributes of all stores",
        "Returns the attributes that the deployment declares for all stores, by name.",
        [200: .tagged("The attributes.", "AttributeList")]
    )

    fileprivate static let getAttribute = Operation(
        "getAttribute",
        .attributes,
        "Get an attribute of all stores",
        "Returns an attribute that the deployment declares for all stores.",
        [200: .tagged("The attribute.", "Attribute")]
    )

    fileprivate static let putAttribute = Operation(
        "putAttribute",
        .attributes,
        "Declare an attribute for all stores",
        """
        Declares an attribute of products in all stores, or replaces its declaration. The token must not have the claim \
        `stores`. \(keptValues) A type that contradicts the declaration of a store returns 409.
        """,
        body: .json("AttributeInput"),
        [
            200: .json("The attribute was changed.", "DeclaredAttribute"),
            201: .json("The attribute was declared.", "DeclaredAttribute", [.location]),
        ]
    )

    fileprivate static let deleteAttribute = Operation(
        "deleteAttribute",
        .attributes,
        "Delete an attribute of all stores",
        """
        Deletes the declaration of an attribute, and the titles that stores give to it. Products keep their values. The \
        token must not have the claim `stores`.
        """,
        [204: .noContent]
    )

    fileprivate static let listStoreAttributes = Operation(
        "listStoreAttributes",
        .attributes,
        "List the attributes of a store",
        "Returns the attributes in effect in a store, by name: those of all stores, with the store's titles, and its own.",
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
        Declares an attribute of the store's products, or replaces its declaration. An attribute of all stores keeps its \
        type: the store only gives other titles to it and to its values, without `type`, or with the same properties. \
        \(keptValues)
        """,
        body: .json("AttributeInput"),
        [
            200: .json("The attribute was changed.", "DeclaredAttribute"),
            201: .json("The attribute was declared.", "DeclaredAttribute", [.location]),
        ]
    )

    fileprivate static let deleteStoreAttribute = Operation(
        "deleteStoreAttribute",
        .attributes,
        "Delete an attribute of a store",
        """
        Deletes the store's declaration of an attribute, or its titles for an attribute of all stores. Products keep their \
        values.
        """,
        [204: .noContent]
    )

    private static let keptValues = """
        Products keep their values: those of another type count as missing until they change, and `unreadable_products` has \
        their number.
        """
}
