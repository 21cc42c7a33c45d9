internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Streams of changes, as server-sent events. Source: the HTML standard, section 9.2.
struct EventEndpoints: EndpointGroup {
    let live: LiveHub
    let users: any UserStore
    let settings: any SettingsStore

    var endpoints: [Endpoint] {
        [
            // With a ticket instead of a token.
            Endpoint(.get, "/v1/me/events", .anyone, cost: 5, ofUser),
            Endpoint(.get, "/v1/stores/{store}/shelves/{shelf}/events", .anyone, cost: 5, ofShelf),
        ]
    }

    /// The caller's settings and lists as they change.
    private func ofUser(_ call: Call) async throws -> Response {
        try call.target.allow("ticket", "since")
        let since = try Self.lastEventID(call) ?? call.target.revision("since")
        try live.check(call.caller?.user)
        let caller =
            if let caller = call.caller { caller } else if let ticket = try call.target.value("ticket") {
                try await redeem(ticket)
            } else { throw Authenticator.unauthenticated("events are a user's own: they need a token, or a ticket") }
        // Before the response begins: a failure is an error, not an empty stream.
        let changes = try await live.follow(caller.user, since: since, until: caller.expiresAt)
        // An empty event: it says where to resume if nothing comes before the connection is lost.
        let opening = "retry: \(Self.retry)\nid: \(await changes.revision)\n\n"
        return stream(call, opening: opening, changes)
    }

    /// Returns the owner of a ticket, once.
    private func redeem(_ text: String) async throws -> Caller {
        guard let secret = Base64URL.decode(String(text.prefix(64))), secret.count == 32,
            let ticket = try await users.redeem(DeploymentKey.digest(secret))
        else {
            throw Authenticator.unauthenticated("the ticket is none, or was used, or is older than \(Ticket.life) s")
        }
        return Caller(user: ticket.user, expiresAt: ticket.tokenExpiresAt)
    }

    /// A shelf's first products as they change.
    private func ofShelf(_ call: Call) async throws -> Response {
        try call.target.allow("sort", "limit", "since", filters: true)
        var (sort, filter) = (try call.target.sort(), try call.target.filter())
        let (shelf, limit) = (try call.shelf, try call.target.limit())
        var since = try Self.lastEventID(call) ?? call.target.revision("since")
        if sort == nil, let caller = call.caller {
            // The caller's own sort stays as it was at the start; the shelf's is followed. Which one a reconnecting client
            // shows is not known, and so neither is what it shows.
            let own = try await settings.rememberedViews(caller.user, shelf.store, shelf.shelf).view
            (sort, filter) = (own?.sort, filter ?? own?.filter)
            since = nil
        }
        let changes = try await live.follow(shelf, by: sort, filter: filter, limit: limit, since: since)
        return stream(call, opening: "retry: \(Self.retry)\n\n", changes)
    }

    /// After how many milliseconds a client is to come back.
    private static let retry = 2000

    /// The id that a client goes on from; one that no event has where it is no id: an error would end an `EventSource` for
    /// good, where reading everything anew helps.
    private static func lastEventID(_ call: Call) -> Int64? {
        guard let header = call.request.headers[.init("Last-Event-ID")!], !header.isEmpty else { return nil }
        return Int64(header).flatMap { $0 >= 0 ? $0 : nil } ?? .max
    }

    private func stream(_ call: Call, opening: String, _ changes: any LiveChanges) -> Response {
        let (live, request) = (live, call.request)
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .init("X-Accel-Buffering")!: "no",
                // Nothing else comes on it: a client that has been sent away must not ask there again.
                .connection: "close",
            ],
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: opening))
                // A client that goes away is noticed at once, not at the next event.
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    while let output = try await changes.next() {
                        try await writer.write(Self.frames(output))
                    }
                }
                if live.isClosed {
                    // Not all at once.
                    try await writer.write(ByteBuffer(string: "retry: \(Int.random(in: 500...4000))\n\n"))
                }
                try await writer.finish(nil)
            }
        )
    }

    private static func frames(_ output: LiveOutput) -> ByteBuffer {
        guard case .events(let events) = output else { return ByteBuffer(string: ": alive\n\n") }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(events.reduce(0) { $0 + $1.data.count + 64 })
        for event in events {
            buffer.writeString("event: \(event.name.rawValue)\nid: \(event.id)\ndata: ")
            buffer.writeBytes(event.data)
            buffer.writeString("\n\n")
        }
        return buffer
    }
}
