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
    /// The uses of the attribute that would be deleted or get another type.
    var uses: AttributeUses?
    var headers: HTTPFields = [:]
    /// Whether to close the connection after the response, because the rest of the request is not read.
    var closesConnection = false

    init(_ kind: ProblemKind, _ detail: String, allowed: [String] = []) {
        self.kind = kind
        self.detail = detail
        self.allowed = allowed
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
            if let uses { json.object("uses") { uses.writeMembers(to: &$0) } }
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

/// An error after which the connection ends, because the rest of the request is not read.
struct ClosingError: Error {
    let error: any Error
}
