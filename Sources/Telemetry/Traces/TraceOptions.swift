/// The tracing settings, read from OpenTelemetry's environment variables.
///
/// Source: OpenTelemetry specification, environment variables and OTLP exporter. An empty variable counts as missing.
package struct TraceOptions: Sendable {
    /// The URL that spans are sent to.
    package var endpoint: String
    /// The additional headers of each request; their values may be secret.
    package var headers: [(name: String, value: String)] = []
    /// The timeout of a request.
    package var timeout: Duration = .seconds(10)
    /// The attributes of the process.
    package var resource: [(name: String, value: String)]
    package var sampler: TraceSampler

    package init(
        endpoint: String,
        resource: [(name: String, value: String)] = [("service.name", "aisle")],
        sampler: TraceSampler = TraceSampler(.always)
    ) {
        self.endpoint = endpoint
        self.resource = resource
        self.sampler = sampler
    }

    /// Reads the variables; nil if tracing is off, because there is no endpoint or it is disabled.
    ///
    /// - Parameters:
    ///   - variables: the environment.
    ///   - version: the version of the program.
    /// - Throws: `TraceOptionsError` for an invalid variable, even if tracing is off.
    package init?(_ variables: [String: String], version: String) throws(TraceOptionsError) {
        let reader = TraceVariables(variables)
        let isDisabled = try reader.flag("OTEL_SDK_DISABLED")
        try reader.choice("OTEL_TRACES_EXPORTER", ["otlp", "none"])
        for name in ["OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] {
            try reader.choice(name, ["http/json"])
        }
        let endpoint = try reader.endpoint()
        self.init(endpoint: endpoint ?? "", resource: try Self.resource(reader, version), sampler: try reader.sampler())
        // The variables for traces take precedence over those for all signals.
        for prefix in ["OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"] {
            if let given = try reader.pairs(prefix + "HEADERS") { headers = given }
            if let given = try reader.milliseconds(prefix + "TIMEOUT") { timeout = given }
        }
        if isDisabled || endpoint == nil || reader["OTEL_TRACES_EXPORTER"] == "none" { return nil }
    }

    private static func resource(
        _ reader: TraceVariables,
        _ version: String
    ) throws(TraceOptionsError) -> [(name: String, value: String)] {
        var resource = [(name: "service.name", value: "aisle"), (name: "service.version", value: version)]
        let named = reader["OTEL_SERVICE_NAME"].map { [(name: "service.name", value: $0)] } ?? []
        let given = try reader.pairs("OTEL_RESOURCE_ATTRIBUTES") ?? []
        for (name, value) in given + named {
            if let index = resource.firstIndex(where: { $0.name == name }) {
                resource[index].value = value
            } else {
                resource.append((name, value))
            }
        }
        return resource
    }
}

/// An invalid environment variable of the tracing settings.
package struct TraceOptionsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The variable, the violated rule, and the value unless it may be secret.
    package let description: String

    init(_ name: String, _ rule: String, got value: String) { description = "\(name) must be \(rule) (got “\(value)”)" }

    init(_ name: String, _ rule: String) { description = "\(name) must be \(rule)" }
}
