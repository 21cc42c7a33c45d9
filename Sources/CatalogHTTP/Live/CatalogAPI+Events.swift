internal import CatalogJSON
internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

// Server-Sent Events. Source: the HTML standard, section 9.2.
extension CatalogAPI {
    /// `GET /v1/me/events`: the caller's settings as they change.
    func myEvents(_ target: RequestTarget, _ request: Request, _ caller: Caller?) async throws -> Response {
        try target.allow("ticket", "since")
        let since = try lastEventID(request) ?? target.revision("since")
        try live.check(caller?.user)
        let caller =
            if let caller { caller } else if let ticket = try target.value("ticket") {
                try await redeem(ticket)
            } else { throw Self.unauthenticated("events are a user's own: they need a token, or a ticket") }
        // Before the answer begins: what cannot be followed is an error, not an empty stream.
        let changes = try await live.follow(caller.user, since: since, until: caller.expiresAt)
        // An empty event: it tells where to resume, should nothing come before the connection is lost.
        let opening = "retry: \(Self.retry)\nid: \(await changes.revision)\n\n"
        return stream(request, opening: opening, changes)
    }

    /// `GET …/shelves/{shelf}/events`: a shelf's first products as they change.
    func shelfEvents(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow("sort", "limit", "since", filters: true)
        var (sort, filter) = (try target.sort(), try target.filter())
        let limit = try target.limit()
        var since = try lastEventID(request) ?? target.revision("since")
        if sort == nil, caller != nil {
            // The caller's own stays as it was when they began; the shelf's is followed. Which it was when they were here
            // before is not known, and so is not what they show.
            let own = try await remembered(caller, store, shelf).view
            (sort, filter) = (own?.sort, filter ?? own?.filter)
            since = nil
        }
        let changes = try await live.follow(
            ShelfAddress(store, shelf),
            by: sort,
            filter: filter,
            limit: limit,
            since: since
        )
        return stream(request, opening: "retry: \(Self.retry)\n\n", changes)
    }

    /// After how many milliseconds a client is to come back.
    private static let retry = 2000

    /// The id that a client goes on from; one that no event has where it is no id: an error would end an `EventSource` for
    /// good, where reading everything anew helps.
    private func lastEventID(_ request: Request) -> Int64? {
        guard let header = request.headers[.init("Last-Event-ID")!], !header.isEmpty else { return nil }
        return Int64(header).flatMap { $0 >= 0 ? $0 : nil } ?? .max
    }

    private func stream(_ request: Request, opening: String, _ changes: any LiveChanges) -> Response {
        let live = live
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
