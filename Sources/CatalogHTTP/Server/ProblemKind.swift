internal import Catalog
internal import CatalogJSON
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
    case inUse = "in-use"
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

    /// The status of responses.
    var status: HTTPResponse.Status { row.status }

    var title: String { row.title }

    /// The advice on the help page.
    var advice: String { row.advice }

    /// Whether the request contradicts the state of the server, which the client has not seen yet.
    var contradictsState: Bool { status == .conflict || status == .preconditionFailed }

    private struct Row {
        let status: HTTPResponse.Status
        let title: String
        let advice: String

        init(_ status: HTTPResponse.Status, _ title: String, _ advice: String) {
            (self.status, self.title, self.advice) = (status, title, advice)
        }
    }

    private var row: Row {
        switch self {
        case .malformedRequest:
            Row(
                .badRequest,
                "Malformed request",
                "“detail” says what is wrong, “parameter” where, and “allowed” lists the accepted values."
            )
        case .unknownSortKey:
            Row(
                .badRequest,
                "Unknown sort key",
                "“allowed” lists the sort keys. Prefix a key with “-” for descending; separate several keys with commas."
            )
        case .invalidCursor:
            Row(
                .badRequest,
                "Invalid cursor",
                "A cursor is only valid, unaltered, for its own shelf, sort, filter, search and “collapse”. Start from the first page."
            )
        case .unauthenticated:
            Row(
                .unauthorized,
                "Authentication required",
                "Send “Authorization: Bearer …” with a signed, unexpired token that is issued for this service."
            )
        case .forbidden:
            Row(
                .forbidden,
                "Forbidden",
                "“detail” says what is missing: a scope of the token, access to the store, a role on the list, or a signed-in user."
            )
        case .notFound:
            Row(
                .notFound,
                "Not found",
                "Check the path and the ids in it. The resource does not exist, was deleted, or is not visible to this user."
            )
        case .methodNotAllowed:
            Row(.methodNotAllowed, "Method not allowed", "The header “Allow” lists the methods of this path.")
        case .conflict:
            Row(.conflict, "Conflict", "Resolve the conflict that “detail” describes, and send the request again.")
        case .inUse:
            Row(
                .conflict,
                "In use",
                "Nothing was changed. Remove the uses listed in “uses”, or repeat the request with “confirm”."
            )
        case .stale:
            Row(
                .preconditionFailed,
                "Precondition failed",
                "Nothing was changed. Read the current version (“order_version”, “revision” or “version”) and retry."
            )
        case .keyReused:
            Row(
                .unprocessableContent,
                "Idempotency key reused",
                "Use a new Idempotency-Key for every request; reuse a key only to repeat the same request."
            )
        case .tooLarge:
            Row(
                .contentTooLarge,
                "Payload too large",
                "“detail” names the limit. Send less data per request; to write many products, use an import."
            )
        case .unsupportedMediaType:
            Row(
                .unsupportedMediaType,
                "Unsupported media type",
                "Set Content-Type to one of the types in “allowed”, if there are any, and send the body without Content-Encoding."
            )
        case .unprocessable:
            Row(
                .unprocessableContent,
                "Validation failed",
                "“detail” says which value is invalid and what is accepted."
            )
        case .tooMany:
            Row(
                .tooManyRequests,
                "Too many requests",
                "Close some open streams or requests, or retry after the seconds in “Retry-After”."
            )
        case .rateLimited:
            Row(
                .tooManyRequests,
                "Rate limit exceeded",
                "Send fewer requests. “RateLimit” says how many points are left; retry after the seconds in “Retry-After”."
            )
        case .payloadTimeout:
            Row(
                .requestTimeout,
                "Request timeout",
                "The body arrived too slowly. Check the connection, or send less data per request, and retry."
            )
        case .readOnly:
            Row(
                .serviceUnavailable,
                "Service is read-only",
                "The database does not accept writes at the moment, for example during a failover. Reads work. Retry "
                    + "after the seconds in “Retry-After”."
            )
        case .unavailable:
            Row(
                .serviceUnavailable,
                "Service unavailable",
                "The service is overloaded or its database is unreachable. Retry after the seconds in “Retry-After”. A write may "
                    + "have been applied; repeat it with the same Idempotency-Key."
            )
        case .fault:
            Row(
                .internalServerError,
                "Internal server error",
                "The error is logged under “request_id”. Read the resource before you repeat a write."
            )
        }
    }
}

// MARK: - Errors of the domain

extension Problem {
    init(_ error: CatalogError) {
        switch error {
        case .malformed(let parameter, let detail, let allowed, let hint):
            self.init(.malformedRequest, detail, allowed: allowed)
            self.parameter = parameter
            self.hint = hint
        case .unknownSortKey(let error, let parameter):
            self.init(.unknownSortKey, error.detail, allowed: error.allowed)
            self.parameter = parameter
            hint = error.hint
        case .unknownFilter(let error):
            self.init(.malformedRequest, error.detail, allowed: error.allowed)
            parameter = error.parameter
            hint = error.hint
        case .invalidCursor:
            self.init(
                .invalidCursor,
                """
                the cursor was altered or belongs to a different shelf, sort, filter, search or “collapse”; start from the first page
                """
            )
            parameter = "cursor"
        case .notFound(let what): self.init(.notFound, "\(what) does not exist")
        case .unknownStores(let detail, let hint):
            self.init(.notFound, detail)
            parameter = "store"
            self.hint = hint
        case .unprocessable(let field, let detail):
            self.init(.unprocessable, detail)
            parameter = field.isEmpty ? nil : field
        case .stale(let current):
            self.init(
                .stale,
                "the order has changed; read it again, and repeat the change (the current order version is \(current))"
            )
            orderVersion = current
            headers[.eTag] = "\"order-\(current)\""
        case .staleSetting(let current):
            self.init(
                .stale,
                current.map {
                    "the setting is not at the expected revision; read it again, and repeat the change (the current revision is \($0))"
                }
                    ?? "the setting does not exist"
            )
            revision = current
            headers[.eTag] = current.map { "\"\($0)\"" }
        case .staleList(let current):
            self.init(
                .stale,
                "the list has changed; read it again, and repeat the change (the current version is \(current))"
            )
            version = current
            headers[.eTag] = "\"\(current)\""
        case .staleAttribute(let current):
            self.init(.stale, "the attribute is not as If-Match expects; read it again, and repeat the change")
            headers[.eTag] = current.map { Call.hash($0.json) }
        case .inUse(let name, let uses):
            self.init(
                .inUse,
                """
                the attribute “\(name)” is in use: \(uses.description); to change it anyway, repeat the request with confirm=\(name); \
                these uses are then ignored
                """
            )
            self.uses = uses
        case .staleSynonyms(let current):
            self.init(.stale, "the synonyms are not as If-Match expects; read them again, and repeat the change")
            headers[.eTag] = current.map { Call.hash($0.json) }
        case .forbidden(let detail): self.init(.forbidden, detail)
        case .tooMany(let detail):
            self.init(.tooMany, detail)
            headers[.retryAfter] = "30"
        case .keyReused:
            self.init(.keyReused, "the Idempotency-Key was used for a different request within the last 24 hours")
        case .tooLarge(let detail): self.init(.tooLarge, detail)
        case .conflict(let detail): self.init(.conflict, detail)
        case .readOnly:
            self.init(.readOnly, "the database is read-only; nothing was changed")
            headers[.retryAfter] = "5"
        case .unavailable, .cancelled:
            self.init(.unavailable, "the service is overloaded or its database is unreachable")
            headers[.retryAfter] = "1"
        case .fault: self.init(.fault, "an internal error occurred; report the request_id")
        }
    }
}
