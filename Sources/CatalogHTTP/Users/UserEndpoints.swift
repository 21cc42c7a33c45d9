internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// A user's data as a whole: merging a guest, export, erasure, and tickets for event streams.
struct UserEndpoints: EndpointGroup {
    let users: any UserStore
    let authenticator: Authenticator
    let key: DeploymentKey

    var endpoints: [Endpoint] {
        [
            Endpoint(.post, "/v1/me/tickets", .user, .createTicket, cost: 3, makeTicket),
            Endpoint(.post, "/v1/me/merge", .user, .mergeGuest, timeLimit: TimeLimit.bulk.request, cost: 20, merge),
            Endpoint(.get, "/v1/me/export", .user, .exportUser, timeLimit: TimeLimit.shelf.request, cost: 20, export),
            Endpoint(.delete, "/v1/me", .user, .eraseUser, timeLimit: TimeLimit.bulk.request, cost: 20, erase),
        ]
    }

    private func makeTicket(_ call: Call) async throws -> Response {
        let bytes = try await call.bytes()
        if !bytes.isEmpty { try BodyReader(try BodyLoader.json(bytes)).end() }
        let caller = try call.requiredCaller
        let id = UniqueID.random()
        let expiry = Timestamp.now().adding(seconds: Int64(Ticket.lifetimeSeconds))
        let secret = key.secret(.ticket, id, idempotencyKey: call.idempotencyKey)
        let ticket = Ticket(
            user: caller.user,
            digest: DeploymentKey.digest(secret),
            expiresAt: expiry,
            tokenExpiresAt: caller.expiresAt
        )
        let issued = try await users.saveTicket(ticket, id: id, once: try call.idempotentCall(bytes))
        let issuedSecret =
            issued.id == id ? secret : key.secret(.ticket, issued.id, idempotencyKey: call.idempotencyKey)
        return .outcome(issued.json(text: Base64URL.encode(issuedSecret)), status: .created)
    }

    private func merge(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: GuestMerge.self)
        var reader = try BodyReader(body)
        let token = try reader.string("guest_token", bytes: TokenVerifier.limit)
        try reader.end()
        let user = try call.user
        let merged = try await users.merge(into: user, once: once) { () async throws(CatalogError) -> UserID in
            try await guest(token, for: user)
        }
        return .outcome(merged.json)
    }

    /// Returns the guest of a token, whom a user merges.
    private func guest(_ token: String?, for user: UserID) async throws(CatalogError) -> UserID {
        func invalid(_ detail: String) -> CatalogError { .unprocessable(field: "guest_token", detail: detail) }
        guard let token else { throw invalid("guest_token is required") }
        guard !user.isGuest else { throw .forbidden("a guest cannot merge another guest; sign in first") }
        let guest: Caller
        do throws(Problem) { guest = try await authenticator.caller(token: token) } catch {
            throw invalid("guest_token: \(error.detail)")
        }
        guard guest.user.isGuest else { throw invalid("guest_token must belong to a guest") }
        return guest.user
    }

    private func export(_ call: Call) async throws -> Response {
        return call.hashedPrivate(try await users.export(call.user, customer: call.requiredCaller.customer).json)
    }

    private func erase(_ call: Call) async throws -> Response {
        try await users.erase(call.user, customer: call.requiredCaller.customer)
        return .noContent
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let createTicket = Operation(
        "createTicket",
        .events,
        "Create a ticket for a stream",
        """
        Returns a ticket that opens `GET /v1/me/events` once, for clients that cannot send \
        headers, such as EventSource.
        """,
        parameters: [.idempotencyKey],
        body: .empty,
        [201: .json("The ticket.", "TicketResponse")]
    )

    fileprivate static let mergeGuest = Operation(
        "mergeGuest",
        .userData,
        "Merge a guest into the user",
        """
        Moves the settings and lists of a guest to the user. If both have a setting, the later \
        change wins. A list whose id the user already has gets a new id. The guest has no data \
        afterwards.
        """,
        parameters: [.idempotencyKey],
        body: .json("MergeInput"),
        [200: .json("The result of the merge.", "MergeResult"), 403: .component("GuestForbidden")]
    )

    fileprivate static let exportUser = Operation(
        "exportUser",
        .userData,
        "Export the user's data",
        """
        Returns all data that is stored about the user. Purchases are those that were reported \
        with the token's claim `customer`, or, without it, with its `sub`.
        """,
        [200: .tagged("The data.", "UserExport")]
    )

    fileprivate static let eraseUser = Operation(
        "eraseUser",
        .userData,
        "Erase the user's data",
        """
        Erases all data that is stored about the user. Purchases stay counted; they are \
        anonymized within minutes.
        """,
        [204: .noContent]
    )
}
