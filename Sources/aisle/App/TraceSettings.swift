internal import FoundationEssentials
internal import Logging
internal import ServiceLifecycle
internal import Telemetry

/// The settings of traces, from OpenTelemetry's environment variables.
struct TraceSettings: Sendable {
    /// nil if tracing is off.
    let options: TraceOptions?

    /// - Throws: `CommandFailure`, naming the invalid variable.
    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        do throws(TraceOptionsError) { options = try TraceOptions(environment, version: Aisle.version) } catch {
            throw CommandFailure(error.description, CommandFailure.configuration)
        }
    }

    /// The name and value of each setting; headers, and the query of a URL, may be secret.
    var listed: [(name: String, value: String)] {
        let headers = options?.headers.count ?? 0
        let ratio = if case .ratio(let ratio)? = options?.sampler.root { " \(ratio)" } else { "" }
        return [
            ("otel.exporter.otlp.traces.endpoint", options.map { String($0.endpoint.prefix { $0 != "?" }) } ?? "none"),
            ("otel.exporter.otlp.headers", headers == 0 ? "none" : "\(headers) set"),
            ("otel.traces.sampler", options.map { $0.sampler.name + ratio } ?? "none"),
            ("otel.service.name", options?.resource.first { $0.name == "service.name" }?.value ?? "none"),
        ]
    }

    /// Returns a tracer and the service that exports its spans; nil if tracing is off.
    func tracing(_ logger: Logger) -> (tracer: AisleTracer, service: TraceService)? {
        guard let options else { return nil }
        let exporter = SpanExporter(options, version: Aisle.version, logger: logger)
        return (AisleTracer(options.sampler, receive: exporter.receive), TraceService(exporter: exporter))
    }
}

/// Exports spans until shutdown, and then sends the remaining ones. It stops after all services that make spans.
struct TraceService: Service {
    let exporter: SpanExporter

    func run() async throws {
        await withGracefulShutdownHandler {
            await exporter.run()
        } onGracefulShutdown: {
            exporter.stop()
        }
    }
}
