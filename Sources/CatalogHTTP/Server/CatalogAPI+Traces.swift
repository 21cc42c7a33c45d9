internal import HTTPTypes
internal import Hummingbird
internal import Platform
internal import Tracing

/// The traces of requests.
extension CatalogAPI {
    /// The response header that names the trace and the span of the request.
    private static let traceHeader = HTTPField.Name(TraceParent.header)!

    /// Returns the trace of a request that begins; nil if requests are neither traced nor recorded.
    func beginTrace(_ request: Request, at start: ContinuousClock.Instant) -> RequestTrace? {
        RequestTrace(options.tracer, recordsSteps: options.recordsSteps, request.headers, start)
    }

    func addTrace(_ trace: RequestTrace?, to response: inout Response) {
        if let header = trace?.tracing?.header { response.headers[Self.traceHeader] = header }
    }

    /// Ends the trace of a request.
    ///
    /// The attributes name neither users nor queries, and of paths only those of resources that belong to no user.
    ///
    /// - Parameter status: the status, as in the log.
    func end(
        _ trace: RequestTrace?,
        _ request: Request,
        _ endpoint: Endpoint?,
        status: Int,
        _ requestID: String,
        at end: ContinuousClock.Instant
    ) {
        guard let trace, trace.tracing?.span.isRecording == true else { return }
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "_OTHER"
        var attributes: SpanAttributes = [
            "http.request.method": .string(method), "http.response.status_code": .int64(Int64(status)),
            "aisle.request_id": .string(requestID),
        ]
        if let endpoint {
            attributes.set("http.route", value: .string(endpoint.path))
            if !endpoint.isPersonal { attributes.set("url.path", value: .string(request.uri.path)) }
        }
        if status >= 500 { attributes.set("error.type", value: .string("\(status)")) }
        let name = endpoint.map { "\(method) \($0.path)" } ?? method
        trace.end(name, attributes, isError: status >= 500, at: end)
    }

    /// The methods that spans name; others would make an unlimited number of names.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension Endpoint {
    /// Whether the path may contain ids of a user's own data.
    fileprivate var isPersonal: Bool { if case .user = access { true } else { false } }
}
