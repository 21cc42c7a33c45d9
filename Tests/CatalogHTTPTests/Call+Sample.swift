import Catalog
import HTTPTypes
import Hummingbird
import NIOCore

@testable import CatalogHTTP

extension Call {
    /// Returns a call of an endpoint that does nothing, without a server.
    ///
    /// - Parameters:
    ///   - target: the path and the query.
    ///   - template: the path template of the endpoint; nil for a path without parameters.
    ///   - stream: a body that arrives in pieces; nil for `body`.
    static func sample(
        _ method: HTTPRequest.Method = .get,
        _ target: String = "/v1/stores",
        template: String? = nil,
        _ headers: [String: String] = [:],
        body: String = "",
        stream: RequestBody? = nil,
        caller: Caller? = nil,
        isAbandoned: Bool = false
    ) throws -> Call {
        var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: target)
        for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
        let request = Request(head: head, body: stream ?? RequestBody(buffer: ByteBuffer(string: body)))
        let decoded = try RequestTarget(path: request.uri.path, query: request.uri.query)
        let endpoint = Endpoint(method, template ?? request.uri.path, .optionalToken, nil) { _ in
            Response(status: .ok)
        }
        guard let (resource, parameters) = EndpointTable([endpoint]).match(decoded.segments) else {
            throw CatalogError.fault("the path does not match its template")
        }
        return Call(
            endpoint: endpoint,
            request: request,
            route: EndpointTable.Route(target: decoded, resource: resource, parameters: parameters),
            caller: caller,
            bodyLoader: BodyLoader(limit: 1 << 20, timeout: .seconds(20)),
            peer: nil,
            trustedProxies: TrustedProxies(),
            bodyLength: CatalogAPI.bodyLength(request),
            deadlines: DeadlineWatch(),
            isAbandoned: { isAbandoned }
        )
    }
}

extension Response {
    /// Returns the bytes of the body.
    func bytes() async throws -> [UInt8] {
        let collected = CollectedBody()
        try await body.write(collected)
        return collected.buffer.map { Array(buffer: $0) } ?? []
    }
}
