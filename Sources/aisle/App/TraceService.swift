internal import ServiceLifecycle
internal import Telemetry

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
