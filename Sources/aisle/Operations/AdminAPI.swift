internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Telemetry

/// The responses on the admin port: metrics, status and health. It has no authentication, so it should listen on an internal address
/// only.
struct AdminAPI: HTTPResponder {
    typealias Context = BasicRequestContext

    let monitor: ServerMonitor

    func respond(to request: Request, context: Context) async throws -> Response {
        var response = await respond(to: request)
        response.headers[.cacheControl] = "no-store"
        if request.method == .head {
            response.body = ResponseBody(contentLength: response.body.contentLength) { try await $0.finish(nil) }
        }
        return response
    }

    private func respond(to request: Request) async -> Response {
        let path = request.uri.path
        guard Self.paths.contains(path) else {
            return Self.text(.notFound, "unknown path; this port has \(Self.paths.joined(separator: ", "))\n")
        }
        guard [.get, .head].contains(request.method) else {
            var response = Self.text(.methodNotAllowed, "\(path) supports GET and HEAD only\n")
            response.headers[.allow] = "GET, HEAD"
            return response
        }
        switch path {
        case "/metrics":
            let format = MetricFormat.accepted(by: request.headers[.accept])
            return Self.response(.ok, format.contentType, ByteBuffer(string: await monitor.metrics(format)))
        case "/status":
            let json = await monitor.state().json(startedAt: monitor.startedAt)
            return Self.response(.ok, "application/json", ByteBuffer(bytes: json))
        case "/readyz":
            let text = request.uri.queryParameters["for"].map(String.init)
            guard let purpose = text.map({ Readiness.Purpose(rawValue: $0) }) ?? .writes else {
                return Self.text(.badRequest, "for must be reads or writes\n")
            }
            let isReady = await monitor.isReady(for: purpose)
            return Self.text(isReady ? .ok : .serviceUnavailable, isReady ? "ok\n" : "not ready\n")
        default: return Self.text(.ok, "ok\n")
        }
    }

    private static let paths = ["/metrics", "/status", "/livez", "/readyz"]

    private static func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        response(status, "text/plain; charset=utf-8", ByteBuffer(string: text))
    }

    private static func response(_ status: HTTPResponse.Status, _ type: String, _ body: ByteBuffer) -> Response {
        Response(status: status, headers: [.contentType: type], body: .init(byteBuffer: body))
    }
}
