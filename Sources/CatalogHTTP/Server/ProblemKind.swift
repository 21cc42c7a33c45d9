internal import Catalog
internal import HTTPTypes
internal import Hummingbird

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
        case .tooLarge: "Send less at once; an import has no limit."
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
