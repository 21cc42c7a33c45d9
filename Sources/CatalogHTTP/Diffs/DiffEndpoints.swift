internal import AisleDiff
internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import Platform

/// Diffs between orders.
struct DiffEndpoints: EndpointGroup {
    let pages: any PageStore
    let responses: any ResponseStore
    let cursors: CursorCodec

    var endpoints: [Endpoint] {
        let diff = "/v1/stores/{store}/shelves/{shelf}/order/diff"
        func costly(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ operation: Operation,
            cost: Int,
            _ handler: @escaping Endpoint.Handler
        ) -> Endpoint {
            Endpoint(
                method,
                path,
                .optionalToken,
                operation,
                body: .large,
                timeLimit: TimeLimit.shelf.request,
                cost: cost,
                surcharge: SearchCost.surcharge,
                isCostly: true,
                isReadOnly: true,
                readsReplicas: path == diff,
                handler
            )
        }
        return [
            costly(.get, diff, .diffSorts, cost: 10, diffSorts),
            // POST without side effects: the lists do not fit into a URL.
            costly(.post, diff, .diffFromList, cost: 20, diffList),
            costly(.post, "/v1/order/diff", .diffLists, cost: 20, diffLists),
        ]
    }

    private func diffSorts(_ call: Call) async throws -> Response {
        let target = call.target
        let (from, to, filter) = (try target.sort("from_sort"), try target.sort("to_sort"), try call.filter())
        let (search, collapses) = (try target.search(), try target.collapsesGroups())
        let isShared = search != nil || from != nil && to != nil
        var request = DiffRequest(
            store: try call.parameters.store,
            shelf: try call.parameters.shelf,
            from: .sort(RequestedSort(sort: from, filter: filter, search: search, collapsesGroups: collapses)),
            to: RequestedSort(sort: to, filter: filter, search: search, collapsesGroups: collapses),
            limit: try target.value("limit").map { text throws(CatalogError) in try Self.window(text) },
            mode: try target.choice("mode") ?? .moves
        )
        let form = DiffFormat(accepting: call.header(.accept))
        request.includesProducts = form == .json
        request.includesDescendants = try target.includesDescendants()
        if !isShared { request.user = call.caller?.user }
        let cache = isShared && search == nil ? "public, no-cache" : "private, no-cache"
        let headers: HTTPFields = [.vary: isShared ? "Accept" : "Accept, Authorization"]
        try request.check()
        var response: Response?
        func isKnown(_ basis: PageBasis) -> Bool {
            guard let tag = request.entityTag(basis, mediaType: form.mediaType), call.knows(tag) else { return false }
            response = .notModified(tag, cache, headers)
            return true
        }
        let read = try await pages.read(request.page, unless: { isKnown($0) })
        if let response { return response }
        let current = if case .shelf(let shelf) = read { shelf } else { try await pages.currentUnion(request.page) }
        if isKnown(current.basis), let response { return response }
        let diff = try await current.diff(request)
        call.work.add(rows: diff.old.count + diff.new.count)
        call.work.add(diff.targetOrder?.search, indexedProducts: diff.indexedProducts)
        let tag = request.entityTag(diff, mediaType: form.mediaType)
        var fields = headers
        for field in nextLink(call, request, diff) { fields.append(field) }
        return rendered(diff, form, cache: cache, tag: tag, fields)
    }

    private func diffList(_ call: Call) async throws -> Response {
        let filter = try call.filter()
        let bytes = try await call.bytes()
        let once: IdempotentCall<RecordedResponse>? = try call.idempotentCall(bytes)
        let store = try call.parameters.store
        let first = try await responses.recorded(once, in: store)
        if let first, !first.body.isEmpty { return .outcome(first.body, mediaType: first.mediaType) }
        var reader = try BodyReader(try BodyLoader.json(bytes))
        let from = try reader.ids("from")
        let form = DiffFormat(accepting: call.header(.accept))
        var request = DiffRequest(
            store: store,
            shelf: try call.parameters.shelf,
            from: .list(from),
            to: RequestedSort(
                sort: try reader.sort("to_sort", allowsRelevance: true),
                filter: filter,
                search: try call.target.search(),
                collapsesGroups: try call.target.collapsesGroups()
            ),
            limit: try reader.integer("limit").map { Int($0) },
            mode: try call.target.choice("mode") ?? .moves
        )
        try reader.end()
        if request.to.isDefault { request.user = call.caller?.user }
        request.includesProducts = form == .json
        request.includesDescendants = try call.target.includesDescendants()
        let diff = try await pages.diff(request)
        call.work.add(rows: diff.new.count)
        call.work.add(diff.targetOrder?.search, indexedProducts: diff.indexedProducts)
        if let once, first == nil {
            try await responses.record(form.bytes(of: diff, cursors), form.mediaType, of: once, in: store)
        }
        return rendered(diff, form, nextLink(call, request, diff))
    }

    private func diffLists(_ call: Call) async throws -> Response {
        let bytes = try await call.bytes()
        let once: IdempotentCall<RecordedResponse>? = try call.idempotentCall(bytes)
        // The diff depends only on the request, so an empty response is recorded to reserve the key.
        let isRepeated = try await responses.recorded(once, in: nil) != nil
        var reader = try BodyReader(try BodyLoader.json(bytes))
        let (from, to) = (try reader.ids("from"), try reader.ids("to"))
        try reader.end()
        let diff = try OrderDiff(old: from, new: to, mode: try call.target.choice("mode") ?? .moves)
        if let once, !isRepeated { try await responses.record(RecordedResponse(body: []), of: once, in: nil) }
        return rendered(diff, DiffFormat(accepting: call.header(.accept)))
    }

    private static func window(_ text: String) throws(CatalogError) -> Int {
        guard let limit = Int(text) else {
            throw .malformed(
                parameter: "limit",
                detail: "limit must be an integer between 1 and \(DiffRequest.windowLimit)"
            )
        }
        return limit
    }

    /// Returns the Link header for the page after the window of a diff. The cursor has the sort, the filter and the search of the new order.
    private func nextLink(_ call: Call, _ request: DiffRequest, _ diff: OrderDiff) -> HTTPFields {
        let limit = min(request.limit ?? .max, PageRequest.limits.upperBound)
        return call.nextLink(
            "limit=\(limit)\(request.includesDescendants == true ? "&include=descendants" : "")",
            diff.next.map { cursors.encode($0) },
            of: "/v1/stores/\(request.store)/shelves/\(request.shelf)/products"
        )
    }

    private func rendered(
        _ diff: OrderDiff,
        _ form: DiffFormat,
        cache: String = "no-store",
        tag: String? = nil,
        _ extra: HTTPFields = [:]
    ) -> Response {
        var headers = extra
        if headers[.vary] == nil { headers[.vary] = "Accept" }
        headers[.contentType] = form.mediaType
        headers[.cacheControl] = cache
        if let tag { headers[.eTag] = tag }
        let start = ContinuousClock.now
        let bytes = StepRecorder.measure(.rendering, "diff") { form.bytes(of: diff, cursors) }
        let stages = [
            ("sql", diff.readDuration), ("diff", diff.compareDuration), ("form", ContinuousClock.now - start),
        ]
        headers[.init("Server-Timing")!] = stages.map { name, time in
            let (seconds, fraction) = time.components
            return "\(name);dur=\(Double(fraction / 1_000_000_000_000) / 1000 + Double(seconds) * 1000)"
        }.joined(separator: ", ")
        return Response(status: .ok, headers: headers, body: .chunked(bytes))
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let diffSorts = Operation(
        "diffSorts",
        .diffs,
        "Get the diff between two sorts",
        """
        Returns the minimal set of moves from one sort of the shelf to another. Both orders are \
        read at the same moment. \
        Attributes of the store are filters, too. With `q`, both orders have the products that a search finds. \
        With `collapse`, both have one id for each group of products, `group/` and its key; a group that \
        another product represents is among `changed`. With `limit`, `next_cursor` is the cursor of the page after \
        the new window, to which the header `Link` leads in all formats.
        """,
        parameters: [.fromSort, .toSort, .search, .window, .mode, .include, .collapse] + Parameter.filters,
        [200: .component("TaggedDiff", isTagged: true), 413: .component("TooLarge"), 422: .component("Unprocessable")]
    )

    fileprivate static let diffFromList = Operation(
        "diffFromList",
        .diffs,
        "Get the diff from a client's list",
        """
        Returns the minimal set of moves from the list that a client shows, whatever it contains, \
        to the current order of the shelf. It changes nothing. \
        Attributes of the store are filters, too. With `q`, the order has the products that a search finds. \
        With `collapse`, it has one id for each group of products. With `limit`, `next_cursor` is the cursor of the page \
        after the new window, to which the header `Link` leads in all formats. The repeated response to an \
        idempotency key does not have the header.
        """,
        parameters: [.search, .mode, .idempotencyKey, .include, .collapse] + Parameter.filters,
        body: .json("ShelfDiffInput"),
        [200: .component("Diff"), 400: .component("BadSortRequest")]
    )

    fileprivate static let diffLists = Operation(
        "diffLists",
        .diffs,
        "Get the diff between two lists",
        "Returns the minimal set of moves between any two lists of ids. It needs no store.",
        parameters: [.mode, .idempotencyKey],
        body: .json("ListsDiffInput"),
        [200: .component("Diff")]
    )
}
