internal import CatalogJSON
internal import Catalog
internal import Crypto
internal import HTTPTypes
internal import Hummingbird

extension CatalogAPI {
    /// What is a user's own. Nothing in a request names a user: it is always the caller.
    func own(
        _ route: Route,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Response {
        switch (route, request.method) {
        case (.myLists(let route), _): return try await lists(route, target, request, caller)
        case (.mySettings, .put): return try await putSettings(target, request, caller)
        case (.mySettings, _): return try await settings(target, request, caller)
        case (.mySetting(let name), .put):
            try target.allow()
            let key = try settingKey(name)
            return try await put(try SettingsEdit.one(key, body: try await body(request)), request, caller)
        case (.mySetting(let name), .delete):
            try target.allow()
            return try await delete(try settingKey(name), request, caller)
        case (.mySetting(let name), _):
            try target.allow()
            let setting = try await catalog.setting(try settingKey(name), of: caller.user)
            return answer(setting.json, revision: setting.revision, request)
        case (.mySort(let store, let shelf), .put): return try await putSort(store, shelf, target, request, caller)
        case (.mySort(let store, let shelf), .delete):
            // Of a shelf that is gone too.
            try target.allow()
            return try await delete(.sort(of: shelf, in: store), request, caller)
        case (.mySort(let store, let shelf), _):
            try target.allow()
            let setting = try await catalog.setting(.sort(of: shelf, in: store), of: caller.user)
            return answer(sortDocument(setting), revision: setting.revision, request)
        case (.myTickets, _): return try await makeTicket(target, request, caller)
        case (.myMerge, _): return try await merge(target, request, caller)
        case (.myExport, _):
            try target.allow()
            let export = try await catalog.export(caller.user)
            return hashed(export.json, request, cache: "private, no-cache", headers: [.vary: "Authorization"])
        case (.me, _):
            try target.allow()
            try await catalog.erase(caller.user)
            return Response(status: .noContent)
        default: throw Problem(.methodNotAllowed, "\(request.method.rawValue) does not apply here")
        }
    }

    // MARK: - One setting

    private func settingKey(_ name: String) throws(CatalogError) -> SettingKey {
        guard let key = SettingKey(name) else {
            throw .malformed(parameter: "key", detail: "a setting's key is \(SettingKey.rule)")
        }
        return key
    }

    private func put(_ write: SettingsEdit.Write, _ request: Request, _ caller: Caller) async throws -> Response {
        let result = try await apply(SettingsEdit([write], expecting: expectation(request)), caller)
        return answer(result.setting.json, revision: result.setting.revision, request)
    }

    private func delete(_ key: SettingKey, _ request: Request, _ caller: Caller) async throws -> Response {
        let result = try await apply(SettingsEdit([.init(key, nil)], expecting: expectation(request)), caller)
        guard result.isApplied else { throw CatalogError.notFound("setting “\(key)”") }
        return Response(status: .noContent)
    }

    private func apply(_ edit: SettingsEdit, _ caller: Caller) async throws -> SettingsEdit.Result {
        try await catalog.edit(edit, of: caller.user)[0]
    }

    /// What `If-Match` or `If-None-Match` expects of a setting; tags that no setting has are of no account.
    private func expectation(_ request: Request) -> SettingsEdit.Expectation {
        if let header = request.headers[.ifMatch] {
            let tags = header.split(separator: ",").map { $0.filter { $0 != " " } }
            if tags.contains("*") { return .present }
            return .revision(
                Set(
                    tags.compactMap {
                        $0.hasPrefix("\"") && $0.hasSuffix("\"") ? Int64($0.dropFirst().dropLast()) : nil
                    }
                )
            )
        }
        return request.headers[.ifNoneMatch]?.filter { $0 != " " } == "*" ? .absent : .nothing
    }

    private func answer(_ bytes: [UInt8], revision: Int64, _ request: Request) -> Response {
        let tag = "\"\(revision)\""
        let headers: HTTPFields = [.vary: "Authorization"]
        if request.method != .put, knownTags(request).contains(tag) {
            return notModified(tag, "private, no-cache", headers)
        }
        return json(bytes, tag: tag, cache: "private, no-cache", headers: headers)
    }

    // MARK: - A shelf's sort

    private func sortDocument(_ setting: Setting, transition: [UInt8]? = nil) -> [UInt8] {
        object { json in
            if let view = setting.view {
                json.field("sort", view.sort.description)
                json.field("filter", json: view.filter.isEmpty ? "null" : view.filter.json.text)
            }
            json.field("revision", setting.revision)
            json.field("modified_at", setting.modifiedAt.rfc3339)
            if let transition { json.field("transition", json: String(decoding: transition, as: UTF8.self)) }
        }
    }

    private func putSort(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Response {
        try target.allow()
        var reader = try BodyReader(try await body(request))
        reader.ignore("revision", "modified_at", "transition")
        let sort = try reader.sort("sort")
        let filter = try reader.value("filter").map { json throws(CatalogError) in try Filter(json: json) }
        let limit = try reader.integer("transition_limit").map { Int($0) }
        try reader.end()
        guard let wanted = sort.map({ RememberedView($0, filter ?? .none) }) else {
            throw CatalogError.unprocessable(
                field: "sort",
                detail: "sort is missing or null; DELETE returns to the default"
            )
        }
        if let limit, !(1...DiffRequest.windowBound).contains(limit) {
            throw CatalogError.unprocessable(
                field: "transition_limit",
                detail: "transition_limit must be from 1 to \(DiffRequest.windowBound)"
            )
        }
        let head = try await catalog.shelf(store, shelf)
        let wide = limit == nil ? nil : try await catalog.rememberedViews(caller.user, store, shelf).store
        let key = SettingKey.sort(of: shelf, in: store)
        try Setting.check(wanted.value, for: key, field: wanted.filter.isEmpty ? "sort" : "filter")
        var edit = SettingsEdit([.init(key, wanted.value)], expecting: expectation(request))
        // What was in force when this was written, not when it was asked for.
        edit.needsPrevious = limit != nil
        let result = try await apply(edit, caller)
        var transition: [UInt8]?
        if let limit {
            let before = head.settle(remembering: RememberedViews(shelf: result.previous?.view, store: wide))
            let wish = DiffRequest(
                store: store,
                shelf: shelf,
                from: .view(ShelfView(sort: before.sort, filter: before.filter)),
                to: ShelfView(sort: wanted.sort, filter: wanted.filter),
                limit: limit
            )
            // The sort is remembered: without a way there, the client reads the page.
            transition = try? await catalog.diff(wish).json()
        }
        return answer(
            sortDocument(result.setting, transition: transition),
            revision: result.setting.revision,
            request
        )
    }

    // MARK: - Many

    private func settings(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        try target.allow("since")
        let since = try target.revision("since")
        let page = try await catalog.settings(of: caller.user, since: since, limit: nil)
        let bytes = page.json
        // The revision tells of every change; what was asked tells which of them are in it.
        let tag = "\"\(page.revision)-\(since.map { "\($0)" } ?? "all")\(page.isResync ? "-resync" : "")\""
        var headers: HTTPFields = [.vary: "Authorization"]
        if knownTags(request).contains(tag) { return notModified(tag, "private, no-cache", headers) }
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "private, no-cache"
        headers[.eTag] = tag
        return Response(status: .ok, headers: headers, body: inPieces(bytes))
    }

    private func putSettings(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        try target.allow()
        let edit = try SettingsEdit.many(body: try await body(request))
        let results = try await catalog.edit(edit, of: caller.user)
        return json(results.json, cache: "no-store")
    }

    private func merge(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        try target.allow()
        let bytes = try await bodyBytes(request, bound: options.bodyBound)
        var reader = try BodyReader(try json(of: bytes))
        let token = try reader.string("guest_token", bytes: TokenVerifier.bound)
        try reader.end()
        let call = try idempotentCall(request, bytes, caller)
        // The guest's token may have expired since, and the guest is gone.
        if let call, let first = try await catalog.recall(call.key, of: caller.user) {
            return recorded(try first.answer(to: call))
        }
        func wrong(_ detail: String) -> CatalogError { .unprocessable(field: "guest_token", detail: detail) }
        guard let token else { throw wrong("guest_token is missing") }
        guard !caller.user.isGuest else {
            throw Problem(.forbidden, "a guest has no account that another guest could join")
        }
        let guest: Caller
        do { guest = try await self.caller(token: token) } catch let problem as Problem {
            throw wrong("guest_token: \(problem.detail)")
        }
        guard guest.user.isGuest else { throw wrong("guest_token is not a guest's") }
        let answer = try await catalog.merge(guest.user, into: caller.user, once: call) {
            RecordedAnswer(body: $0.json)
        }
        return recorded(answer)
    }

    // MARK: - Tickets

    private func makeTicket(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        try target.allow()
        let bytes = try await bodyBytes(request, bound: options.bodyBound)
        if !bytes.isEmpty { try BodyReader(try json(of: bytes)).end() }
        let secret = [UInt8].random(32)
        let expiry = Timestamp(microseconds: Timestamp.now().microseconds + Int64(Ticket.life) * 1_000_000)
        let ticket = Ticket(
            user: caller.user,
            digest: Self.digest(secret),
            expiresAt: expiry,
            tokenExpiresAt: caller.expiresAt
        )
        let body = object { json in
            json.field("ticket", Base64URL.encode(secret))
            json.field("expires_at", expiry.rfc3339)
        }
        let call = try idempotentCall(request, bytes, caller)
        let answer = RecordedAnswer(status: 201, body: body)
        return recorded(try await catalog.keep(ticket, once: call, answering: answer))
    }

    /// Who a ticket is of, once.
    func redeem(_ text: String) async throws -> Caller {
        guard let secret = Base64URL.decode(String(text.prefix(64))), secret.count == 32,
            let ticket = try await catalog.redeem(Self.digest(secret))
        else { throw Self.unauthenticated("the ticket is none, or was used, or is older than \(Ticket.life) s") }
        return Caller(user: ticket.user, expiresAt: ticket.tokenExpiresAt)
    }

    static func digest(_ secret: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: secret)) }
}
