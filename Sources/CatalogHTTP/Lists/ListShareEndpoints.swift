internal import JSON
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
            Endpoint(.get, shares, .user, .listShares, cost: 2, readAll),
            Endpoint(.post, shares, .user, .createShare, cost: 3, create),
            Endpoint(.delete, shares + "/{share}", .user, .revokeShare, cost: 3, revoke),
            Endpoint(.post, "/v1/me/lists/join", .user, .joinList, cost: 3, join),
        ]
    }

    private func readAll(_ call: Call) async throws -> Response {
        let shares = try await lists.shares(call.parameters.list, of: call.user)
        return call.hashedPrivate(JSONWriter.object { $0.array("shares", shares) { $1.write(to: &$0) } })
    }

    private func create(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableBody(recording: IssuedShare.self)
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
        try await lists.revoke(call.parameters.share, call.parameters.list, of: call.user)
        return .noContent
    }

    private func join(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: ListDocument.self)
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
        return .outcome(document.recorded.body, tag: document.head?.tag)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listShares = Operation(
        "listShares",
        .listShares,
        "List the shares of a list",
        "Returns the shares of a list, for its owner.",
        [200: .tagged("The shares.", "ShareList"), 403: .component("ListForbidden")]
    )

    fileprivate static let createShare = Operation(
        "createShare",
        .listShares,
        "Share a list",
        "Creates a share. Its token lets other users join the list; the token is valid for 30 days.",
        parameters: [.idempotencyKey],
        body: .optionalJSON("ShareInput"),
        [201: .json("The share.", "ListShare"), 403: .component("ListForbidden")]
    )

    fileprivate static let revokeShare = Operation(
        "revokeShare",
        .listShares,
        "Revoke a share",
        "Revokes a share and removes its members from the list.",
        [204: .noContent, 403: .component("ListForbidden")]
    )

    fileprivate static let joinList = Operation(
        "joinList",
        .listShares,
        "Join a list",
        "Makes the user a member of the list that the token was issued for.",
        parameters: [.idempotencyKey],
        body: .json("JoinInput"),
        [200: .tagged("The user is a member of the list.", "List"), 404: .component("NotFound")]
    )
}
