internal import CatalogJSON
internal import AisleDiff
internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension CatalogAPI {
    /// `GET …/order/diff`: between two sorts of a shelf.
    func diff(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow("from_sort", "to_sort", "limit", "mode", filters: true)
        let (from, to, filter) = (try target.sort("from_sort"), try target.sort("to_sort"), try target.filter())
        var wanted = DiffRequest(
            store: store,
            shelf: shelf,
            from: .view(ShelfView(sort: from, filter: filter)),
            to: ShelfView(sort: to, filter: filter),
            limit: try target.value("limit").map { text throws(CatalogError) in try Self.window(text) },
            mode: try mode(target)
        )
        let form = DiffForm(accepting: request.headers[.accept])
        wanted.carriesProducts = form == .json
        let isShared = from != nil && to != nil
        if !isShared { wanted.remembered = try await remembered(caller, store, shelf) }
        let cache = isShared ? "public, no-cache" : "private, no-cache"
        let headers: HTTPFields = [.vary: isShared ? "Accept" : "Accept, Authorization"]
        let known = knownTags(request)
        if !known.isEmpty {
            let head = try await catalog.shelf(store, shelf)
            if let tag = wanted.entityTag(head, form: form.mediaType), known.contains(tag) {
                return notModified(tag, cache, headers)
            }
        }
        let diff = try await catalog.diff(wanted)
        let tag = diff.reached.flatMap { wanted.entityTag($0.head, form: form.mediaType) }
        return answer(diff, form, cache: cache, tag: tag, headers)
    }

    /// `POST …/order/diff`: from what a client shows to a shelf's order now.
    func diffFromList(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow("mode", filters: true)
        let filter = try target.filter()
        let bytes = try await bodyBytes(request, bound: Route.orderBodyBound)
        let call = try idempotentCall(request, bytes, caller)
        if let first = try await recalled(call, in: store) { return first }
        var reader = try BodyReader(try json(of: bytes))
        let from = try reader.ids("from")
        let form = DiffForm(accepting: request.headers[.accept])
        var wanted = DiffRequest(
            store: store,
            shelf: shelf,
            from: .list(from),
            to: ShelfView(sort: try reader.sort("to_sort"), filter: filter),
            limit: try reader.integer("limit").map { Int($0) },
            mode: try mode(target)
        )
        try reader.end()
        if wanted.to.sort == nil { wanted.remembered = try await remembered(caller, store, shelf) }
        wanted.carriesProducts = form == .json
        return try await recording(try await catalog.diff(wanted), form, call, in: store)
    }

    /// `POST /v1/order/diff`: between any two lists.
    func diffOfLists(_ target: RequestTarget, _ request: Request, _ caller: Caller?) async throws -> Response {
        try target.allow("mode")
        let bytes = try await bodyBytes(request, bound: Route.orderBodyBound)
        let call = try idempotentCall(request, bytes, caller)
        // Made of the request alone: only that the key is taken must be remembered.
        let isRepeated = try await recalled(call, in: nil) != nil
        var reader = try BodyReader(try json(of: bytes))
        let (from, to) = (try reader.ids("from"), try reader.ids("to"))
        try reader.end()
        let diff = try OrderDiff(old: from, new: to, mode: try mode(target))
        if let call, !isRepeated { try await catalog.record(RecordedAnswer(body: []), of: call, in: nil) }
        return answer(diff, DiffForm(accepting: request.headers[.accept]))
    }

    private func recording(
        _ diff: OrderDiff,
        _ form: DiffForm,
        _ call: IdempotentCall?,
        in store: CatalogKey?
    ) async throws -> Response {
        if let call {
            let answer = RecordedAnswer(contentType: form.mediaType, body: form.bytes(of: diff))
            if answer.body.count <= call.answerBound {
                try await catalog.record(answer, of: call, in: store)
            }
        }
        return answer(diff, form)
    }

    private static func window(_ text: String) throws(CatalogError) -> Int {
        guard let limit = Int(text) else {
            throw .malformed(
                parameter: "limit",
                detail: "limit must be a whole number from 1 to \(DiffRequest.windowBound)"
            )
        }
        return limit
    }

    private func mode(_ target: RequestTarget) throws(CatalogError) -> DiffMode {
        guard let text = try target.value("mode") else { return .moves }
        guard let mode = DiffMode(rawValue: text) else {
            throw .malformed(
                parameter: "mode",
                detail: "mode must be one of those allowed",
                allowed: DiffMode.allCases.map(\.rawValue)
            )
        }
        return mode
    }

    private func answer(
        _ diff: OrderDiff,
        _ form: DiffForm,
        cache: String = "no-store",
        tag: String? = nil,
        _ extra: HTTPFields = [.vary: "Accept"]
    ) -> Response {
        var headers = extra
        headers[.contentType] = form.mediaType
        headers[.cacheControl] = cache
        if let tag { headers[.eTag] = tag }
        let start = ContinuousClock.now
        let bytes = form.bytes(of: diff)
        let stages = [("sql", diff.reading), ("diff", diff.comparing), ("form", ContinuousClock.now - start)]
        headers[.init("Server-Timing")!] = stages.map { name, time in
            "\(name);dur=\(Double(time.components.attoseconds / 1_000_000_000_000) / 1000 + Double(time.components.seconds) * 1000)"
        }.joined(separator: ", ")
        return Response(status: .ok, headers: headers, body: inPieces(bytes))
    }
}
