internal import Catalog
internal import Live
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Change streams as server-sent events. Source: the HTML standard, section 9.2.
struct EventEndpoints: EndpointGroup {
    let live: LiveHub
    let users: any UserStore
    let settings: any SettingsStore
    let attributes: any AttributeStore
    let shelfStreams: LimitedResource
    let observer: Observer<HTTPObservation>

    var endpoints: [Endpoint] {
        [
            // Open to anyone, because a ticket can replace the token.
            Endpoint(.get, "/v1/me/events", .optionalToken, .streamUserEvents, cost: 5, ofUser),
            Endpoint(
                .get,
                "/v1/stores/{store}/shelves/{shelf}/events",
                .optionalToken,
                .streamShelfEvents,
                cost: 5,
                surcharge: SearchCost.surcharge,
                ofShelf
            ),
        ]
    }

    /// Streams changes to the caller's settings and lists.
    private func ofUser(_ call: Call) async throws -> Response {
        let start = try Self.start(call)
        try live.checkLimits(for: call.caller?.user)
        let caller =
            if let caller = call.caller { caller } else if let ticket = try call.target.value("ticket") {
                try await redeem(ticket)
            } else { throw Authenticator.unauthenticated("a user's events require a token or a ticket") }
        // Subscribe before the response starts, so that a failure is an error response, not an empty stream.
        let changes = try await live.subscribe(caller.user, from: start, until: caller.expiresAt)
        // The first event sets the id to resume from, in case the connection is lost before the first change. Until a
        // resync no id is sent, so that a client that reconnects causes the resync again.
        return stream(call, .user, nil, opening: await changes.revision.map { .start($0) }, changes)
    }

    /// Redeems a ticket and returns its user.
    private func redeem(_ text: String) async throws -> Caller {
        guard let secret = Base64URL.decode(String(text.prefix(64))), secret.count == 32,
            let ticket = try await users.redeem(DeploymentKey.digest(secret))
        else {
            throw Authenticator.unauthenticated(
                "invalid, used or expired ticket; a ticket is valid for \(Ticket.lifetimeSeconds) seconds"
            )
        }
        return Caller(user: ticket.user, expiresAt: ticket.tokenExpiresAt)
    }

    /// Streams changes to a shelf's first products.
    private func ofShelf(_ call: Call) async throws -> Response {
        let (requestedSort, requestedFilter) = (try call.target.sort(), try call.filter())
        let search = try call.target.search()
        var collapsesGroups = try call.target.collapsesGroups()
        let (shelf, limit, products) = (try call.shelf, try call.target.limit(), try call.target.flag("products"))
        let includesDescendants = try call.target.includesDescendants()
        if includesDescendants == true {
            var page = PageRequest(store: shelf.store, shelf: shelf.shelf, sort: requestedSort, search: search)
            page.includesDescendants = true
            try page.check()
        }
        var start = try Self.start(call)
        var own: RememberedSort?
        if requestedSort == nil, search == nil, let caller = call.caller {
            // The caller's remembered sort is fixed when the stream starts; the shelf's default sort is followed. A
            // reconnecting client may show either one, so its current order is unknown.
            let sorts = try await settings.rememberedSorts(caller.user, shelf.store, shelf.shelf)
            let namesAttributes = [sorts.shelf, sorts.store].contains { $0?.namesAttributes == true }
            let known: ResolvedAttributes = namesAttributes ? try await attributes.resolved(of: shelf.store) : .none
            own = sorts.applying(to: requestedFilter, in: known).own
            // The manual order is that of one shelf.
            if own?.sort.readsPositions == true, try await live.showsUnion(shelf, includesDescendants) {
                own = sorts.applying(to: requestedFilter, allowsPositions: false, in: known).own
            }
            collapsesGroups = collapsesGroups ?? own?.collapsesGroups
            start = .unknown
        }
        let permit = try shelfStreams.permit(for: call.client)
        let changes = try await live.subscribe(
            shelf,
            by: requestedSort ?? own?.sort,
            filter: requestedFilter ?? own?.filter,
            search: search,
            includesDescendants: includesDescendants,
            collapsesGroups: collapsesGroups,
            limit: limit,
            from: start,
            includesProducts: products
        )
        let isRemembered = own != nil
        return stream(call, .shelf, permit, opening: nil, changes) {
            guard isRemembered else { return false }
            return await canShow(shelf, requestedFilter)
        }
    }

    /// Returns whether a shelf exists, and its store has the attributes of a filter; true if the database cannot be reached.
    private func canShow(_ shelf: ShelfAddress, _ filter: Filter?) async -> Bool {
        guard await live.exists(shelf) else { return false }
        guard let filter, filter.namesAttributes, let known = try? await attributes.resolved(of: shelf.store) else {
            return true
        }
        return (try? filter.resolved(in: known)) != nil
    }

    /// The client's reconnect delay, in milliseconds.
    private static let retry = 2000

    /// Returns where a stream starts. An invalid `Last-Event-ID` is not an error: an error response would stop an
    /// `EventSource` permanently.
    private static func start(_ call: Call) throws -> SubscriptionStart {
        if let header = call.request.headers[.init("Last-Event-ID")!], !header.isEmpty {
            return Int64(header).flatMap { $0 >= 0 ? .after($0) : nil } ?? .unknown
        }
        return try call.target.revision("since").map { .after($0) } ?? .now
    }

    /// - Parameter reconnects: returns whether a client whose view is gone should reconnect to get another view.
    private func stream(
        _ call: Call,
        _ kind: FeedKind,
        _ permit: Permit?,
        opening: LiveEvent?,
        _ changes: any LiveSubscription,
        reconnects: @escaping @Sendable () async -> Bool = { false }
    ) -> Response {
        let (live, request, observer) = (live, call.request, observer)
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .init("X-Accel-Buffering")!: "no",
                // Do not reuse the connection: after a drain, the client must reconnect to another server.
                .connection: "close",
            ],
            body: ResponseBody { writer in
                defer { permit?.release() }
                // The comment sends the head of the response; a client knows then that the stream is open.
                var opened = ByteBuffer(string: ": open\n")
                var retry: Int? = Self.retry
                if let opening {
                    Self.write([opening], retry: &retry, to: &opened)
                }
                try await writer.write(opened)
                // Detect a disconnect immediately, not at the next event. A body that the client sends all the same is
                // dropped: while nobody reads it, the end of the connection behind it would not be noticed either.
                let isReplaced = try await request.body.consumeWithCancellationOnInboundClose { body in
                    _ = body.makeAsyncIterator()
                    while let output = try await changes.next() {
                        if case .events(let events) = output, events.last?.name == .gone, await reconnects() {
                            return true
                        }
                        try await writer.write(Self.frames(output, retry: &retry))
                        if case .events(let events) = output {
                            observer.observe(.eventsSent(kind, count: events.count))
                        }
                    }
                    return false
                }
                if isReplaced || live.isClosed {
                    // Stagger the reconnects.
                    let delay = Int.random(in: 500...4000)
                    try await writer.write(ByteBuffer(string: "retry: \(delay)\nevent: reconnect\ndata: {}\n\n"))
                }
                try await writer.finish(nil)
            }
        )
    }

    /// - Parameter retry: the reconnect delay for the next event; nil once it is sent.
    private static func frames(_ output: LiveOutput, retry: inout Int?) -> ByteBuffer {
        // A comment ends without an empty line: some clients take a block without data for an event.
        guard case .events(let events) = output else { return ByteBuffer(string: ": alive\n") }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(events.reduce(0) { $0 + $1.data.count + 64 })
        write(events, retry: &retry, to: &buffer)
        return buffer
    }

    private static func write(_ events: [LiveEvent], retry: inout Int?, to buffer: inout ByteBuffer) {
        for event in events {
            if let delay = retry { buffer.writeString("retry: \(delay)\n") }
            retry = nil
            buffer.writeString("event: \(event.name.rawValue)\nid: \(event.id)\ndata: ")
            buffer.writeBytes(event.data)
            buffer.writeString("\n\n")
        }
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let streamUserEvents = Operation(
        "streamUserEvents",
        .events,
        "Stream the user's changes",
        """
        Streams changes to the user's settings and lists as server-sent events. The `id` of an \
        event is the user's revision; `Last-Event-ID` or `since` resumes after it. A comment is \
        sent after 15 seconds without events.

        Events: `start` comes first, and its data is a `StartEvent`; the data of `setting` is a \
        `Setting`, of `list` a `ListEvent`, of `gap` a `GapEvent`; `reconnect` precedes the close \
        of the stream by the server.
        """,
        parameters: [.since, .lastEventID, .ticket],
        [200: .component("UserEvents"), 429: .component("StreamLimited")]
    )

    fileprivate static let streamShelfEvents = Operation(
        "streamShelfEvents",
        .events,
        "Stream the changes of a shelf",
        """
        Streams changes to the first products of a shelf as server-sent events. The `id` of an \
        event is the version of the shelf, or with descendants or `q` a number that the server knows for \
        a while; `Last-Event-ID` or `since` resumes after it. Attributes of the store are filters, too. With `q`, the \
        products are those that a search finds, and a change of `q` in the data is an event, too. With `collapse`, \
        the ids are those of groups, and a group whose representative or counts change is among `changed`, with its \
        product.

        Events: the data of `order` is a `Diff` from the previous event, and the first one has \
        the first `limit` products of the order, unless the stream resumes; `gone`: the shelf, or an \
        attribute of the sort or filter, no longer exists; `reconnect`: the server is about to close the stream. A stream \
        of a remembered sort whose attribute is deleted ends with `reconnect`; the next one ignores the sort.
        """,
        parameters: [.sort, .search, .limit, .shelfSince, .lastEventID, .streamProducts, .include, .collapse]
            + Parameter.filters,
        [200: .component("ShelfEvents"), 429: .component("StreamLimited")]
    )
}
