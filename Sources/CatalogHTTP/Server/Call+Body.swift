internal import JSON
internal import Catalog
internal import CatalogJSON
internal import Crypto
internal import HTTPTypes
internal import HummingbirdCore

extension Call {
    static let jsonTypes = ["application/json"]
    static let patchTypes = ["application/merge-patch+json", "application/json"]

    /// Reads the whole body.
    ///
    /// - Parameter types: the media types that are accepted; nil for any.
    func bytes(types: [String]? = Call.jsonTypes) async throws -> [UInt8] {
        try await bodyLoader.bytes(
            self,
            types: types,
            limit: endpoint.bodyLimit.bytes(bodyLoader.limit)
        )
    }

    /// Reads the body as JSON.
    func json(types: [String]? = Call.jsonTypes) async throws -> JSONValue {
        try BodyLoader.json(await bytes(types: types))
    }

    /// Reads the body of a POST or PATCH as JSON, and the idempotent call of a POST with an `Idempotency-Key`.
    ///
    /// - Parameter outcome: the type of the outcome that is recorded.
    /// - Returns: nil for an empty body.
    func recordableBody<Outcome: RecordableOutcome>(
        recording outcome: Outcome.Type
    ) async throws -> (body: JSONValue?, once: IdempotentCall<Outcome>?) {
        let bytes = try await bytes(types: request.method == .patch ? Self.patchTypes : Self.jsonTypes)
        let body = bytes.isEmpty ? nil : try BodyLoader.json(bytes)
        return (body, request.method == .patch ? nil : try idempotentCall(bytes))
    }

    /// Reads a required JSON body, and the idempotent call.
    func recordableJSON<Outcome: RecordableOutcome>(
        recording outcome: Outcome.Type
    ) async throws -> (body: JSONValue, once: IdempotentCall<Outcome>?) {
        let (body, once) = try await recordableBody(recording: outcome)
        if let body { return (body, once) }
        return (try BodyLoader.json([]), once)
    }

    /// The maximum length of an idempotency key, in bytes.
    private static let keyLimit = 255

    /// The value of the `Idempotency-Key` header.
    var idempotencyKey: String? { header(.init("Idempotency-Key")!) }

    /// Returns the idempotent call of a request with an `Idempotency-Key`; nil without one, or without a token.
    ///
    /// Anonymous requests change nothing, except in a demo, so they need no record, and anonymous clients share no keys.
    ///
    /// - Throws: `malformed` for a key that is not allowed.
    func idempotentCall<Outcome: RecordableOutcome>(_ body: [UInt8]) throws(CatalogError) -> IdempotentCall<Outcome>? {
        guard let key = idempotencyKey else { return nil }
        guard (1...Self.keyLimit).contains(key.utf8.count), key.isPrintable else {
            throw .malformed(
                parameter: "Idempotency-Key",
                detail: "Idempotency-Key must have 1 to \(Self.keyLimit) printable characters"
            )
        }
        guard let caller else { return nil }
        var hash = SHA256()
        for part in [request.method.rawValue, request.uri.description] {
            hash.update(data: Array(part.utf8))
            hash.update(data: [0])
        }
        hash.update(data: body)
        // Keys are scoped per user: no one can read, or detect, another user's response.
        let own = SHA256.hash(data: Array("\(caller.user.text)\u{0}\(key)".utf8))
        return IdempotentCall(key: Base64URL.encode(own), fingerprint: Array(hash.finalize()))
    }
}
