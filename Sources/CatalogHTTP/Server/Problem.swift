internal import JSON
internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// An error response, as a problem document.
struct Problem: Error {
    var kind: ProblemKind
    var detail: String
    var parameter: String?
    var allowed: [String] = []
    var hint: String?
    /// The rejected rows of an import.
    var rejections: [ImportRejection] = []
    /// The current order version, if `If-Match` did not match it.
    var orderVersion: Int64?
    /// The current revision of the setting, if `If-Match` did not match it.
    var revision: Int64?
    /// The current version of the list, if `If-Match` did not match it.
    var version: Int64?
    var headers: HTTPFields = [:]
    /// Whether to close the connection after the response, because the rest of the request is not read.
    var closesConnection = false

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
            self.init(
                .invalidCursor,
                "the cursor was altered or belongs to a different shelf, sort or filter; start from the first page"
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

    func json(requestID: String) -> [UInt8] {
        var json = JSONWriter(reserving: 256)
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
        return json.bytes
    }

    func response(requestID: String) -> Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        if closesConnection { headers[.connection] = "close" }
        let body = ByteBuffer(bytes: json(requestID: requestID))
        return Response(status: kind.status, headers: headers, body: .init(byteBuffer: body))
    }
}
