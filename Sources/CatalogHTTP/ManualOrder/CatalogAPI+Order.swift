internal import CatalogJSON
internal import Catalog
internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension CatalogAPI {
    /// `POST …/order/moves`, `PUT …/order`, `POST …/order/undo`.
    func editOrder(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?,
        _ read: (JSONValue?) throws(CatalogError) -> OrderEdit
    ) async throws -> Response {
        try target.allow("indexes")
        let bytes = try await bodyBytes(request, bound: Route.orderBodyBound)
        let edit = OrderEditRequest(
            store: store,
            shelf: shelf,
            edit: try read(try parse(bytes)),
            expected: expectedVersion(request),
            subject: caller?.user.text,
            wantsIndexes: try target.flag("indexes")
        )
        let answer = try await catalog.editOrder(edit, once: try idempotentCall(request, bytes, caller)) {
            RecordedAnswer(body: $0.json)
        }
        return recorded(answer)
    }

    /// `POST …/shelves/order/moves`.
    func moveShelves(
        _ store: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow()
        let bytes = try await bodyBytes(request, bound: Route.orderBodyBound)
        let moves = try OrderMove.list(body: try parse(bytes))
        let answer = try await catalog.moveShelves(
            moves,
            in: store,
            expected: expectedVersion(request),
            once: try idempotentCall(request, bytes, caller)
        ) { RecordedAnswer(body: $0.json) }
        return recorded(answer)
    }

    /// The first answer to a call that writes nothing by itself, where it was made before.
    func recalled(_ call: IdempotentCall?, in store: CatalogKey?) async throws -> Response? {
        guard let call, let first = try await catalog.recall(call.key, in: store) else { return nil }
        return recorded(try first.answer(to: call))
    }

    func recorded(_ answer: RecordedAnswer) -> Response {
        Response(
            status: .init(code: answer.status),
            headers: [.contentType: answer.contentType, .cacheControl: "no-store"],
            body: inPieces(answer.body)
        )
    }

    private func parse(_ bytes: [UInt8]) throws -> JSONValue? {
        bytes.isEmpty ? nil : try json(of: bytes)
    }

    /// The order version of an `If-Match`; one that no order ever has where it names none.
    private func expectedVersion(_ request: Request) -> Int64? {
        guard let header = request.headers[.ifMatch], header != "*" else { return nil }
        let tag = header.filter { $0 != " " }
        guard tag.hasPrefix("\"order-"), tag.hasSuffix("\"") else { return -1 }
        return Int64(tag.dropFirst(7).prefix { $0.isNumber }) ?? -1
    }

    /// The call that a request with an `Idempotency-Key` is.
    ///
    /// - Throws: `malformed` for a key that cannot be.
    func idempotentCall(
        _ request: Request,
        _ body: [UInt8],
        _ caller: Caller?
    ) throws(CatalogError) -> IdempotentCall? {
        guard let key = request.headers[.init("Idempotency-Key")!] else { return nil }
        guard (1...IdempotentCall.keyBound).contains(key.utf8.count), key.isPrintable else {
            throw .malformed(
                parameter: "Idempotency-Key",
                detail: "an Idempotency-Key is 1 to \(IdempotentCall.keyBound) printable characters"
            )
        }
        var hash = SHA256()
        for part in [request.method.rawValue, request.uri.description] {
            hash.update(data: Array(part.utf8))
            hash.update(data: [0])
        }
        hash.update(data: body)
        // Everybody has keys of their own: nobody gets another's answer, or learns that there is one.
        let own = SHA256.hash(data: Array("\(caller?.user.text ?? "")\u{0}\(key)".utf8))
        return IdempotentCall(
            key: Base64URL.encode(own),
            fingerprint: Array(hash.finalize()),
            answerBound: caller == nil ? IdempotentCall.anonymousAnswerBound : IdempotentCall.answerBound
        )
    }
}
