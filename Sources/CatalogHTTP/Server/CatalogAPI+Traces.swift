internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import Platform
internal import Telemetry
internal import Tracing

/// The traces of requests.
extension CatalogAPI {
    /// The response header that names the trace and the span of the request.
    private static let traceHeader = HTTPField.Name(TraceParent.header)!

    /// Returns the trace of a request that begins; nil if requests are neither traced nor recorded.
    func beginTrace(_ request: Request, at start: ContinuousClock.Instant) -> RequestTrace? {
        RequestTrace(options.tracer, recordsSteps: options.slowRequest != nil, request.headers, start)
    }

    /// Returns the steps of a slow request; nil for others.
    func slowSteps(_ trace: RequestTrace?, _ duration: Duration) -> [CompletedRequest.Step]? {
        guard let limit = options.slowRequest, duration >= limit else { return nil }
        return trace?.recorder?.recorded.steps.map {
            CompletedRequest.Step(kind: $0.kind.rawValue, name: $0.name, duration: $0.duration)
        }
    }

    func addTrace(_ trace: RequestTrace?, to response: inout Response) {
        if let position = trace?.span?.position { response.headers[Self.traceHeader] = position.text }
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
        guard let trace, trace.span?.isRecording == true else { return }
        let method = Self.methods.contains(request.method) ? request.method.rawValue : "_OTHER"
        var fields: [(name: StaticString, value: SpanAttribute)] = [
            ("http.request.method", .string(method)), ("http.response.status_code", .int64(Int64(status))),
            ("aisle.request_id", .string(requestID)),
        ]
        fields.reserveCapacity(5)
        if let endpoint {
            fields.append(("http.route", .string(endpoint.path)))
            if !endpoint.isPersonal { fields.append(("url.path", .string(request.uri.path))) }
        }
        if status >= 500 { fields.append(("error.type", .string("\(status)"))) }
        trace.end(endpoint.map { "\(method) \($0.path)" } ?? method, fields, isError: status >= 500, at: end)
    }

    /// The methods that spans name; others would make an unlimited number of names.
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
}

extension Endpoint {
    /// Whether the path may contain ids of a user's own data.
    var isPersonal: Bool { if case .user = access { true } else { false } }
}
