internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The profiles of imports. They belong to the deployment, so that tokens for some stores cannot change them.
struct ImportProfileEndpoints: EndpointGroup {
    let profiles: any ImportProfileStore

    private static let one = "/v1/import-profiles/{name}"

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/import-profiles", .scope(.catalogWrite), list),
            Endpoint(.get, Self.one, .scope(.catalogWrite), read),
            Endpoint(.put, Self.one, .scope(.catalogWrite), cost: 5, put),
            Endpoint(.delete, Self.one, .scope(.catalogWrite), cost: 5, delete),
        ]
    }

    private func list(_ call: Call) async throws -> Response {
        try call.target.allow()
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
        try call.target.allow()
        let profile = try await profiles.profile(named: try call.parameters.name.text)
        return call.hashed(profile.document, cache: "private, no-cache")
    }

    private func put(_ call: Call) async throws -> Response {
        try call.target.allow()
        let profile = try ImportProfile(body: try await call.json())
        let isNew = try await profiles.save(profile, named: try call.parameters.name)
        return call.written(isNew, profile.document)
    }

    private func delete(_ call: Call) async throws -> Response {
        try call.target.allow()
        let name = try call.parameters.name
        guard ImportProfile.builtIn(name.text) == nil else {
            throw CatalogError.conflict("import profile “\(name)” is built in")
        }
        try await profiles.remove(importProfile: name)
        return .noContent
    }
}
