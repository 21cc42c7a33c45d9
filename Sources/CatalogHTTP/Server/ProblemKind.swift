internal import Catalog
internal import HTTPTypes
internal import Hummingbird

/// An error kind of the API: the problem type of RFC 9457, with its help page.
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
    case rateLimited = "rate-limited"
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
        case .tooMany, .rateLimited: .tooManyRequests
        case .payloadTimeout: .requestTimeout
        case .readOnly, .unavailable: .serviceUnavailable
        case .fault: .internalServerError
        }
    }

    var title: String {
        switch self {
        case .malformedRequest: "Malformed request"
        case .unknownSortKey: "Unknown sort key"
        case .invalidCursor: "Invalid cursor"
        case .unauthenticated: "Authentication required"
        case .forbidden: "Forbidden"
        case .notFound: "Not found"
        case .methodNotAllowed: "Method not allowed"
        case .conflict: "Conflict"
        case .stale: "Precondition failed"
        case .keyReused: "Idempotency key reused"
        case .tooLarge: "Payload too large"
        case .unsupportedMediaType: "Unsupported media type"
        case .unprocessable: "Validation failed"
        case .tooMany: "Too many requests"
        case .rateLimited: "Rate limit exceeded"
        case .payloadTimeout: "Request timeout"
        case .readOnly: "Service is read-only"
        case .unavailable: "Service unavailable"
        case .fault: "Internal server error"
        }
    }

    /// The advice on the help page.
    var advice: String {
        switch self {
        case .malformedRequest:
            "“detail” says what is wrong, “parameter” where, and “allowed” lists the accepted values."
        case .unknownSortKey:
            "“allowed” lists the sort keys. Prefix a key with “-” for descending; separate several keys with commas."
        case .invalidCursor:
            "A cursor is only valid, unaltered, for its own shelf, sort and filter. Start from the first page."
        case .unauthenticated:
            "Send “Authorization: Bearer …” with a signed, unexpired token that is issued for this service."
        case .forbidden:
            "“detail” says what is missing: a scope of the token, access to the store, a role on the list, or a signed-in user."
        case .notFound:
            "Check the path and the ids in it. The resource does not exist, was deleted, or is not visible to this user."
        case .methodNotAllowed: "The header “Allow” lists the methods of this path."
        case .conflict: "Resolve the conflict that “detail” describes, and send the request again."
        case .stale:
            "Nothing was changed. Read the current version (“order_version”, “revision” or “version”) and retry."
        case .keyReused: "Use a new Idempotency-Key for every request; reuse a key only to repeat the same request."
        case .tooLarge: "“detail” names the limit. Send less data per request; to write many products, use an import."
        case .unsupportedMediaType:
            "Set Content-Type to one of the types in “allowed”, if there are any, and send the body without Content-Encoding."
        case .unprocessable: "“detail” says which value is invalid and what is accepted."
        case .tooMany: "Close some open streams or requests, or retry after the seconds in “Retry-After”."
        case .rateLimited:
            "Send fewer requests. “RateLimit” says how many points are left; retry after the seconds in “Retry-After”."
        case .payloadTimeout:
            "The body arrived too slowly. Check the connection, or send less data per request, and retry."
        case .readOnly:
            "The database does not accept writes at the moment, for example during a failover. Reads work. Retry "
                + "after the seconds in “Retry-After”."
        case .unavailable:
            "The service is overloaded or its database is unreachable. Retry after the seconds in “Retry-After”. A write may "
                + "have been applied; repeat it with the same Idempotency-Key."
        case .fault: "The error is logged under “request_id”. Read the resource before you repeat a write."
        }
    }
}
