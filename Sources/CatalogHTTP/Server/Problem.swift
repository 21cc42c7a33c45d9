internal import CatalogJSON
internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

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
