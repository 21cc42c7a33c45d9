internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The endpoints to share and join lists.
struct ListShareEndpoints: EndpointGroup {
    let lists: any ListStore
    let key: DeploymentKey

    var endpoints: [Endpoint] {
        let shares = "/v1/me/lists/{list}/shares"
        return [
            Endpoint(.get, shares, .user, cost: 2, readAll),
            Endpoint(.post, shares, .user, cost: 3, create),
            Endpoint(.delete, shares + "/{share}", .user, cost: 3, revoke),
            Endpoint(.post, "/v1/me/lists/join", .user, cost: 3, join),
        ]
    }

    private func readAll(_ call: Call) async throws -> Response {
        try call.target.allow()
        let shares = try await lists.shares(call.parameters.list, of: call.user)
        return call.hashedPrivate(JSONWriter.object { $0.array("shares", shares) { $1.write(to: &$0) } })
    }

    private func create(_ call: Call) async throws -> Response {
        try call.target.allow()
        let (body, once) = try await call.postedBody()
        let share = try ListShare(body: body ?? .object([]), now: .now())
        let secret = key.secret(.share, share.id, idempotencyKey: call.idempotencyKey)
        let issued = try await lists.share(
            call.parameters.list,
            of: call.user,
            share,
            digest: DeploymentKey.digest(secret),
            once: once
        )
        let isFirst = issued.share.id == share.id
        let issuedSecret =
            isFirst ? secret : key.secret(.share, issued.share.id, idempotencyKey: call.idempotencyKey)
        let token = issued.recordedToken ?? Base64URL.encode(issuedSecret)
        return .outcome(JSONWriter.document { issued.share.write(token: token, to: &$0) }, status: .created)
    }

    private func revoke(_ call: Call) async throws -> Response {
        try call.target.allow()
        try await lists.revoke(call.parameters.share, call.parameters.list, of: call.user)
        return .noContent
    }

    private func join(_ call: Call) async throws -> Response {
        try call.target.allow()
        let (body, once) = try await call.postedJSON()
        var reader = try BodyReader(body)
        let token = try reader.string("token", bytes: 64)
        try reader.end()
        guard let token else {
            throw CatalogError.unprocessable(
                field: "token",
                detail: "token is required; ask the user who shares the list for it"
            )
        }
        // A malformed token gets the same response as an unknown one.
        let secret = Base64URL.decode(token) ?? []
        let document = try await lists.join(DeploymentKey.digest(secret), of: call.user, once: once)
        return .outcome(document.json, tag: document.head?.tag)
    }
}
