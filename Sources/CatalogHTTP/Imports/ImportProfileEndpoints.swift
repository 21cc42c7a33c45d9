internal import JSON
internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The profiles of imports. They belong to the deployment, so that tokens for some stores cannot change them.
struct ImportProfileEndpoints: EndpointGroup {
    let profiles: any ImportProfileStore

    private static let one = "/v1/import-profiles/{name}"

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/import-profiles", .scope(.catalogWrite), .listImportProfiles, list),
            Endpoint(.get, Self.one, .scope(.catalogWrite), .getImportProfile, read),
            Endpoint(.put, Self.one, .scope(.catalogWrite), .putImportProfile, cost: 5, put),
            Endpoint(.delete, Self.one, .scope(.catalogWrite), .deleteImportProfile, cost: 5, delete),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        let saved = try await profiles.importProfiles()
        return .outcome(
            JSONWriter.object { json in
                json.array("profiles", ImportProfile.builtIn.map(\.name) + saved.map(\.name.text)) { json, name in
                    json.object { json in
                        json.field("name", name)
                        json.field("built_in", ImportProfile.builtIn(name) != nil)
                    }
                }
            }
        )
    }

    private func read(_ call: Call) async throws -> Response {
        let profile = try await profiles.profile(named: try call.parameters.name.text)
        return call.hashed(profile.document, cache: "private, no-cache")
    }

    private func put(_ call: Call) async throws -> Response {
        let profile = try ImportProfile(body: try await call.json())
        let isNew = try await profiles.save(profile, named: try call.parameters.name)
        return call.written(isNew, profile.document)
    }

    private func delete(_ call: Call) async throws -> Response {
        let name = try call.parameters.name
        guard ImportProfile.builtIn(name.text) == nil else {
            throw CatalogError.conflict("import profile “\(name)” is built in")
        }
        try await profiles.remove(importProfile: name)
        return .noContent
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listImportProfiles = Operation(
        "listImportProfiles",
        .imports,
        "List the import profiles",
        "Lists the built-in and the saved import profiles. The token must not have the claim `stores`.",
        [200: .json("The names of the profiles.", "ImportProfiles")]
    )

    fileprivate static let getImportProfile = Operation(
        "getImportProfile",
        .imports,
        "Read an import profile",
        "Returns a built-in or saved import profile, which can be changed and saved under another name.",
        [200: .tagged("The profile.", "ImportProfile")]
    )

    fileprivate static let putImportProfile = Operation(
        "putImportProfile",
        .imports,
        "Save an import profile",
        """
        Saves an import profile, or replaces it. Built-in profiles cannot be replaced. The token \
        must not have the claim `stores`.
        """,
        body: .json("ImportProfile"),
        [
            200: .tagged("The profile was replaced.", "ImportProfile"),
            201: .created("The profile was created.", "ImportProfile"),
        ]
    )

    fileprivate static let deleteImportProfile = Operation(
        "deleteImportProfile",
        .imports,
        "Delete an import profile",
        "Deletes a saved import profile. The token must not have the claim `stores`.",
        [204: .noContent]
    )
}
