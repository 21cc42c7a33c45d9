internal import CatalogJSON
internal import Catalog
internal import Crypto
internal import HTTPTypes
internal import Hummingbird

extension CatalogAPI {
    /// A user's lists: their own, and those that they have joined.
    func lists(
        _ route: ListRoute,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Response {
        switch (route, request.method) {
        case (.all, .post): return try await createList(target, request, caller)
        case (.all, _): return try await lists(target, request, caller)
        case (.moves, _): return try await moveLists(target, request, caller)
        case (.join, _): return try await join(target, request, caller)
        case (.one(let id), .patch):
            return try await editList(id, target, request, caller) { body throws(CatalogError) in
                .set(try ListSettings(body: body))
            }
        case (.one(let id), .delete):
            try target.allow()
            try await catalog.removeList(id, of: caller.user, expected: expectedVersions(request))
            return Response(status: .noContent)
        case (.one(let id), _):
            try target.allow()
            let held = try await catalog.list(id, of: caller.user, by: nil).0
            return tagged(held.json, held, request)
        case (.items(let id), .post):
            return try await editList(id, target, request, caller, status: 201, ListEdit.add)
        case (.items(let id), .patch): return try await editList(id, target, request, caller, ListEdit.change)
        case (.items(let id), _): return try await items(id, target, request, caller)
        case (.item(let id, let item), .patch):
            return try await editList(id, target, request, caller) { body throws(CatalogError) in
                .change([try ListItemChange(item, body: body)])
            }
        case (.item(let id, let item), .delete): return try await deleteItem(item, id, target, request, caller)
        case (.item(let id, let item), _):
            try target.allow()
            let (held, facts) = try await catalog.list(id, of: caller.user, by: nil)
            guard let found = held.list.standing.first(where: { $0.id == item }) else {
                throw CatalogError.notFound("item “\(item)”")
            }
            return hashed(found.json(facts), request, cache: "private, no-cache", headers: Self.own)
        case (.itemMoves(let id), _):
            return try await editList(id, target, request, caller) { body throws(CatalogError) in
                .move(try OrderMove.list(body: body).byUniqueID)
            }
        case (.shares(let id), .post): return try await share(id, target, request, caller)
        case (.shares(let id), _):
            try target.allow()
            let shares = try await catalog.shares(id, of: caller.user)
            let bytes = object { $0.array("shares", shares) { $1.write(to: &$0) } }
            return hashed(bytes, request, cache: "private, no-cache", headers: Self.own)
        case (.share(let id, let share), _):
            try target.allow()
            try await catalog.takeBack(share, id, of: caller.user)
            return Response(status: .noContent)
        }
    }

    private static let own: HTTPFields = [.vary: "Authorization"]

    // MARK: - Lists

    private func lists(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        try target.allow("sort", "since")
        let since = try target.revision("since")
        let sort: ListSort? = try target.choice("sort")
        let page = try await catalog.lists(of: caller.user, by: sort, since: since)
        return hashed(page.json, request, cache: "private, no-cache", headers: Self.own)
    }

    private func createList(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        let (body, call) = try await posted(target, request, caller)
        let new = try NewList(body: body)
        let answer = try await catalog.createList(new, of: caller.user, once: call) { held, isNew in
            RecordedAnswer(status: isNew ? 201 : 200, body: held.json)
        }
        var response = recorded(answer)
        // A repeated one is of the first's id.
        if answer.status == 201, case .string(let id)? = try? JSONReader.parse(answer.body)["id"] {
            response.headers[.location] = "/v1/me/lists/\(id)"
        }
        return response
    }

    private func moveLists(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        let (body, call) = try await posted(target, request, caller)
        let moves = try OrderMove.list(body: body).byUniqueID
        return recorded(
            try await catalog.moveLists(moves, of: caller.user, once: call) { RecordedAnswer(body: $0.json) }
        )
    }

    // MARK: - Items

    private func items(
        _ id: UniqueID,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Response {
        try target.allow("sort", "since")
        let sort: ListItemSort? = try target.choice("sort")
        let since = try target.revision("since")
        let (held, facts) = try await catalog.list(id, of: caller.user, by: sort)
        let bytes = held.json(facts, by: sort, since: since)
        return hashed(bytes, request, cache: "private, no-cache", headers: Self.own)
    }

    private func editList(
        _ id: UniqueID,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller,
        status: Int = 200,
        _ read: (JSONValue) throws(CatalogError) -> ListEdit
    ) async throws -> Response {
        let (body, call) = try await posted(target, request, caller)
        let edit = try read(body)
        let answer = try await catalog.editList(
            id,
            of: caller.user,
            edit,
            expected: expectedVersions(request),
            once: call
        ) { outcome in
            // Items that were there already are answered as they stand.
            RecordedAnswer(status: outcome.changed.isEmpty && status == 201 ? 200 : status, body: outcome.json)
        }
        return recorded(answer)
    }

    private func deleteItem(
        _ item: UniqueID,
        _ id: UniqueID,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Response {
        try target.allow()
        // A second time there is none.
        let answer = try await catalog.editList(
            id,
            of: caller.user,
            .change([ListItemChange(item, isDeleted: true)]),
            expected: expectedVersions(request),
            once: nil
        ) { outcome in
            RecordedAnswer(status: outcome.changed.isEmpty ? 404 : 200, body: outcome.json)
        }
        guard answer.status == 200 else { throw CatalogError.notFound("item “\(item)”") }
        return recorded(answer)
    }

    // MARK: - Sharing

    private func share(
        _ id: UniqueID,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller
    ) async throws -> Response {
        let (given, call) = try await posted(target, request, caller, mayBeEmpty: true)
        let share = try ListShare(body: given, now: .now())
        let secret = [UInt8].random(32)
        let body = document { share.write(token: Base64URL.encode(secret), to: &$0) }
        let answer = try await catalog.share(
            id,
            of: caller.user,
            share,
            digest: Self.digest(secret),
            once: call,
            answering: RecordedAnswer(status: 201, body: body)
        )
        return recorded(answer)
    }

    private func join(_ target: RequestTarget, _ request: Request, _ caller: Caller) async throws -> Response {
        let (body, call) = try await posted(target, request, caller)
        var reader = try BodyReader(body)
        let token = try reader.string("token", bytes: 64)
        try reader.end()
        guard let token else {
            throw CatalogError.unprocessable(field: "token", detail: "token is missing: who shares the list has it")
        }
        // A token that can be none is none: nothing tells them apart.
        let secret = Base64URL.decode(token) ?? []
        return recorded(
            try await catalog.join(Self.digest(secret), of: caller.user, once: call) { RecordedAnswer(body: $0.json) }
        )
    }

    // MARK: - Parts

    /// The body of a POST or a PATCH, and the call that a POST with an `Idempotency-Key` is.
    ///
    /// - Parameter mayBeEmpty: whether none stands for an empty object.
    private func posted(
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller,
        mayBeEmpty: Bool = false
    ) async throws -> (body: JSONValue, call: IdempotentCall?) {
        try target.allow()
        let isPatch = request.method == .patch
        let types = isPatch ? Self.patchTypes : Self.jsonTypes
        let bytes = try await bodyBytes(request, types: types, bound: options.bodyBound)
        let body = mayBeEmpty && bytes.isEmpty ? .object([]) : try json(of: bytes)
        return (body, isPatch ? nil : try idempotentCall(request, bytes, caller))
    }

    /// An answer about a list, whose tag begins with its version and changes with all that its user is told of it.
    private func tagged(_ bytes: [UInt8], _ held: HeldList, _ request: Request) -> Response {
        let tag = "\"\(held.list.version)-\(held.revision)\""
        if request.method == .get, knownTags(request).contains(tag) {
            return notModified(tag, "private, no-cache", Self.own)
        }
        return json(bytes, tag: tag, cache: "private, no-cache", headers: Self.own)
    }

    /// The versions of which `If-Match` expects one; none that a list ever has where it names none.
    private func expectedVersions(_ request: Request) -> Set<Int64>? {
        guard let header = request.headers[.ifMatch], header != "*" else { return nil }
        let tags = header.split(separator: ",").map { $0.filter { $0 != " " } }
        return Set(tags.compactMap { $0.hasPrefix("\"") ? Int64($0.dropFirst().prefix { $0.isNumber }) : nil })
    }
}
