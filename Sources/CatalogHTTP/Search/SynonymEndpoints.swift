internal import Catalog
internal import CatalogJSON
internal import Hummingbird
internal import JSON

/// The synonyms of the deployment, which all stores have, and those of a store.
struct SynonymEndpoints: EndpointGroup {
    let synonyms: any SynonymStore

    var endpoints: [Endpoint] {
        let (all, own) = ("/v1/synonyms", "/v1/stores/{store}/synonyms")
        return [
            Endpoint(.get, all, .optionalToken, .getSynonyms, read),
            Endpoint(.put, all, .scope(.catalogWrite), .putSynonyms, cost: 5, put),
            Endpoint(.delete, all, .scope(.catalogWrite), .deleteSynonyms, cost: 5, delete),
            Endpoint(.get, own, .optionalToken, .getStoreSynonyms, read),
            Endpoint(.put, own, .scope(.catalogWrite), .putStoreSynonyms, cost: 5, put),
            Endpoint(.delete, own, .scope(.catalogWrite), .deleteStoreSynonyms, cost: 5, delete),
        ]
    }

    private func read(_ call: Call) async throws -> Response {
        let owner = call.owner
        guard let found = try await synonyms.synonyms(of: owner) else { throw CatalogError.noSynonyms(of: owner) }
        return call.hashed(found.json)
    }

    private func put(_ call: Call) async throws -> Response {
        let expectation = try call.synonymExpectation
        let new = try Synonyms(try await call.json())
        let owner = call.owner
        let isNew = try await synonyms.set(new, for: owner, expecting: expectation)
        // The stored lists may have another order.
        let stored = isNew ? new : try await synonyms.synonyms(of: owner) ?? new
        return call.written(isNew, stored.json)
    }

    private func delete(_ call: Call) async throws -> Response {
        try await synonyms.remove(synonymsOf: call.owner, expecting: call.synonymExpectation)
        return .noContent
    }
}

extension Call {
    /// The expectation of `If-Match`; nil without the header.
    ///
    /// - Throws: `malformed` for a tag that no synonyms have.
    fileprivate var synonymExpectation: SynonymExpectation? {
        get throws(CatalogError) {
            try hashExpectation("synonyms, such as \"pV3XbQ9c_1Zk0a2r\"") { $0.json }
        }
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let getSynonyms = Operation(
        "getSynonyms",
        .search,
        "Get the synonyms of the deployment",
        "Returns the synonyms of the deployment, which all stores have.",
        [200: .tagged("The synonyms.", "Synonyms"), 404: .component("NotFound")]
    )

    fileprivate static let putSynonyms = Operation(
        "putSynonyms",
        .search,
        "Set the synonyms of the deployment",
        "Sets or replaces the synonyms of the deployment. The token must not have the claim `stores`. \(limits)",
        parameters: [.synonymsIfMatch],
        body: .json("SynonymsInput"),
        [200: .tagged("The synonyms were replaced.", "Synonyms"), 201: .created("The synonyms were set.", "Synonyms")]
    )

    fileprivate static let deleteSynonyms = Operation(
        "deleteSynonyms",
        .search,
        "Delete the synonyms of the deployment",
        "Deletes the synonyms of the deployment. Stores keep theirs. The token must not have the claim `stores`.",
        parameters: [.synonymsIfMatch],
        [204: .noContent, 404: .component("NotFound")]
    )

    fileprivate static let getStoreSynonyms = Operation(
        "getStoreSynonyms",
        .search,
        "Get the synonyms of a store",
        "Returns the synonyms of a store, without those of the deployment, which add to them.",
        [200: .tagged("The synonyms.", "Synonyms")]
    )

    fileprivate static let putStoreSynonyms = Operation(
        "putStoreSynonyms",
        .search,
        "Set the synonyms of a store",
        "Sets or replaces the synonyms of a store, which add to those of the deployment. \(limits)",
        parameters: [.synonymsIfMatch],
        body: .json("SynonymsInput"),
        [200: .tagged("The synonyms were replaced.", "Synonyms"), 201: .created("The synonyms were set.", "Synonyms")]
    )

    fileprivate static let deleteStoreSynonyms = Operation(
        "deleteStoreSynonyms",
        .search,
        "Delete the synonyms of a store",
        "Deletes the synonyms of a store. It still has those of the deployment.",
        parameters: [.synonymsIfMatch],
        [204: .noContent]
    )

    private static let limits = """
        Case, accents and inflected forms do not count. At most \(Synonyms.limit) groups and one-way rules are allowed, with at \
        most \(Synonyms.textLimit) texts each, and a text may find at most \(Synonyms.targetLimit) others. A text has at most \
        \(Synonyms.wordLimit) words and \(Synonyms.byteLimit) bytes, and the document at most 256 KiB.
        """
}
