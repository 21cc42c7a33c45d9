internal import HTTPTypes
internal import Hummingbird

// Hummingbird's middleware supports one origin or all; a deployment has a list.
extension CatalogAPI {
    private static let allowedHeaders =
        "Aisle-Seen, Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, X-Request-Id, traceparent, tracestate"
    private static let exposedHeaders =
        "Aisle-Seen, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, traceparent"

    private func allowedOrigin(_ request: Request) -> String? {
        guard let origin = request.headers[.origin] else { return nil }
        return options.origins.contains(origin) || options.origins.contains("*") ? origin : nil
    }

    /// Returns the response to a CORS preflight request.
    func preflight(_ request: Request, _ allow: String?) -> Response {
        var headers: HTTPFields = allow.map { [.allow: $0] } ?? [:]
        if let origin = allowedOrigin(request) {
            headers[.accessControlAllowOrigin] = origin
            headers[.accessControlAllowMethods] = "GET, POST, PUT, PATCH, DELETE"
            headers[.accessControlAllowHeaders] = Self.allowedHeaders
            headers[.accessControlMaxAge] = "600"
        }
        return Response(status: .noContent, headers: headers)
    }

    func addCORS(to response: inout Response, _ request: Request) {
        guard !options.origins.isEmpty else { return }
        response.headers[.vary] = response.headers[.vary].map { $0 + ", Origin" } ?? "Origin"
        guard let origin = allowedOrigin(request) else { return }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.exposedHeaders
    }
}
