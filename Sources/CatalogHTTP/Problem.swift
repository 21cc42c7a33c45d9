internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A kind of error that the API answers: RFC 9457's type, with its page.
enum ProblemKind: String, CaseIterable {
    case malformedRequest = "malformed-request"
    case unknownSortKey = "unknown-sort-key"
    case invalidCursor = "invalid-cursor"
    case unauthenticated
    case forbidden
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case conflict
    case stale
    case keyReused = "idempotency-key-reused"
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case unprocessable
    case tooMany = "too-many"
    case payloadTimeout = "payload-timeout"
    case readOnly = "read-only"
    case unavailable
    case fault

    var status: HTTPResponse.Status {
        switch self {
        case .malformedRequest, .unknownSortKey, .invalidCursor: .badRequest
        case .unauthenticated: .unauthorized
        case .forbidden: .forbidden
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .conflict: .conflict
        case .stale: .preconditionFailed
        case .keyReused: .unprocessableContent
        case .tooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .unprocessable: .unprocessableContent
        case .tooMany: .tooManyRequests
        case .payloadTimeout: .requestTimeout
        case .readOnly, .unavailable: .serviceUnavailable
        case .fault: .internalServerError
        }
    }

    var title: String {
        switch self {
        case .malformedRequest: "The request cannot be read"
        case .unknownSortKey: "No such sort"
        case .invalidCursor: "The cursor is not valid here"
        case .unauthenticated: "Who is asking?"
        case .forbidden: "The token does not permit this"
        case .notFound: "Not found"
        case .methodNotAllowed: "The method does not apply"
        case .conflict: "Something stands in the way"
        case .stale: "Somebody was faster"
        case .keyReused: "The key belongs to another request"
        case .tooLarge: "The body is too large"
        case .unsupportedMediaType: "The body is of a type that this call does not read"
        case .unprocessable: "Well-formed, but wrong"
        case .tooMany: "Too many at a time"
        case .payloadTimeout: "Request timeout"
        case .readOnly: "Service is read-only"
        case .unavailable: "Try again shortly"
        case .fault: "A fault on our side"
        }
    }

    /// What to do about it, for the page.
    var advice: String {
        switch self {
        case .malformedRequest: "The field “detail” says what, “parameter” where, and “allowed” what would be accepted."
        case .unknownSortKey:
            "“allowed” lists the keys; put “-” before a key for descending, and commas between several."
        case .invalidCursor:
            "A cursor works with the shelf and the sort that it was made for, unaltered. Start from the first page."
        case .unauthenticated:
            "Send the header “Authorization: Bearer …” with a token that is signed, meant for this service, and not expired."
        case .forbidden: "“detail” says what is missing: a token with a scope, or the right to change a list."
        case .notFound: "What the path names does not exist, or no longer."
        case .methodNotAllowed: "The header “Allow” lists the methods of this path."
        case .conflict: "Read “detail”, change what stands in the way, and send the request again."
        case .stale:
            "Nothing was changed. “order_version”, “revision” or “version” is the current one: read again, and repeat it."
        case .keyReused: "Make a new Idempotency-Key for every request; repeat it only with the same body."
        case .tooLarge: "Send less at once; an import has no bound."
        case .unsupportedMediaType: "Set Content-Type to a type that “allowed” lists."
        case .unprocessable: "“detail” says which value is wrong and what would be right."
        case .tooMany: "End some of those that are under way, or wait the seconds that “Retry-After” gives."
        case .payloadTimeout:
            "The body arrived too slowly. Check the connection, or send less at once, and repeat the request."
        case .readOnly:
            "The database accepts no writes at the moment, while a failover ends for instance. Reads work. Repeat the request "
                + "after the seconds that “Retry-After” gives."
        case .unavailable:
            "The service is busy, or its database is away. Repeat the request after the seconds that “Retry-After” gives."
        case .fault: "It is logged under “request_id”. Nothing of the request was kept."
        }
    }
}

/// An error on its way to the client.
struct Problem: Error {
    var kind: ProblemKind
    var detail: String
    var parameter: String?
    var allowed: [String] = []
    var hint: String?
    /// The rows of an import that were not taken.
    var rejections: [ImportRejection] = []
    /// The order version that an `If-Match` did not name.
    var orderVersion: Int64?
    /// The revision of a setting that it did not name.
    var revision: Int64?
    /// The version of a list that it did not name.
    var version: Int64?
    var headers: HTTPFields = [:]
    /// Whether the connection ends with the answer, because the rest of the request is not read.
    var closes = false

    init(_ kind: ProblemKind, _ detail: String, allowed: [String] = []) {
        self.kind = kind
        self.detail = detail
        self.allowed = allowed
    }

    init(_ error: CatalogError) {
        switch error {
        case .malformed(let parameter, let detail, let allowed, let hint):
            self.init(.malformedRequest, detail, allowed: allowed)
            self.parameter = parameter
            self.hint = hint
        case .unknownSortKey(let error, let parameter):
            self.init(.unknownSortKey, error.detail, allowed: Sort.allowed)
            self.parameter = parameter
            hint = error.hint
        case .invalidCursor:
            self.init(.invalidCursor, "the cursor was altered, or made for another shelf, sort or filter")
            parameter = "cursor"
        case .notFound(let what): self.init(.notFound, "there is no \(what)")
        case .unprocessable(let field, let detail):
            self.init(.unprocessable, detail)
            parameter = field.isEmpty ? nil : field
        case .stale(let current):
            self.init(.stale, "the order was changed meanwhile; it is at order version \(current)")
            orderVersion = current
            headers[.eTag] = "\"order-\(current)\""
        case .staleSetting(let current):
            self.init(
                .stale,
                current.map { "the setting was changed meanwhile; it is at revision \($0)" }
                    ?? "there is no such setting"
            )
            revision = current
            headers[.eTag] = current.map { "\"\($0)\"" }
        case .staleList(let current):
            self.init(.stale, "the list was changed meanwhile; it is at version \(current)")
            version = current
            headers[.eTag] = "\"\(current)\""
        case .forbidden(let detail): self.init(.forbidden, detail)
        case .tooMany(let detail):
            self.init(.tooMany, detail)
            headers[.retryAfter] = "30"
        case .keyReused:
            self.init(.keyReused, "the Idempotency-Key was used with another request within the last 24 hours")
        case .tooLarge(let detail): self.init(.tooLarge, detail)
        case .conflict(let detail): self.init(.conflict, detail)
        case .readOnly:
            self.init(.readOnly, "the database is read-only; nothing was changed")
            headers[.retryAfter] = "5"
        case .unavailable, .cancelled:
            self.init(.unavailable, "the service is busy, or its database is away")
            headers[.retryAfter] = "1"
        case .fault: self.init(.fault, "the request could not be served")
        }
    }

    func response(requestID: String) -> Response {
        var json = JSONText(reserving: 256)
        json.object { json in
            json.field("type", "/problems/\(kind.rawValue)")
            json.field("title", kind.title)
            json.field("status", kind.status.code)
            json.field("detail", detail)
            json.field("request_id", requestID)
            if let parameter { json.field("parameter", parameter) }
            if !allowed.isEmpty { json.array("allowed", allowed) { $0.string($1) } }
            if let hint { json.field("hint", hint) }
            if let orderVersion { json.field("order_version", orderVersion) }
            if let revision { json.field("revision", revision) }
            if let version { json.field("version", version) }
            if !rejections.isEmpty { rejections.write(to: &json) }
        }
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        if closes { headers[.connection] = "close" }
        return Response(status: kind.status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: json.bytes)))
    }
}
