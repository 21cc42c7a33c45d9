import Testing

@testable import Telemetry

@Suite(.timeLimit(.minutes(15))) struct TraceOptionsTests {
    private static let base = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"]

    private static func options(_ variables: [String: String]) throws -> TraceOptions? {
        try TraceOptions(base.merging(variables) { $1 }, version: "1.2.3")
    }

    @Test("Tracing is off without an endpoint, or if it is disabled")
    func canBeOff() throws {
        #expect(try TraceOptions([:], version: "1") == nil)
        #expect(try Self.options(["OTEL_EXPORTER_OTLP_ENDPOINT": " "]) == nil)
        for value in ["true", "TRUE"] { #expect(try Self.options(["OTEL_SDK_DISABLED": value]) == nil) }
        #expect(try Self.options(["OTEL_TRACES_EXPORTER": "none"]) == nil)
        for value in ["", "false", "False"] { #expect(try Self.options(["OTEL_SDK_DISABLED": value]) != nil) }
    }

    @Test("The path is appended to the general endpoint, and not to the one for traces")
    func endpoints() throws {
        for base in ["http://collector:4318", "http://collector:4318/", "HTTPS://collector/otlp//"] {
            let endpoint = try Self.options(["OTEL_EXPORTER_OTLP_ENDPOINT": base])?.endpoint
            #expect(endpoint?.hasSuffix("/v1/traces") == true)
            #expect(endpoint?.dropFirst(8).contains("//") == false)
        }
        let own = "https://traces.example/in?key=1"
        #expect(try Self.options(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": own])?.endpoint == own)
    }

    @Test("Headers, timeout, service and attributes are read")
    func readsValues() throws {
        let defaults = try #require(try Self.options([:]))
        #expect(defaults.timeout == .seconds(10))
        #expect(defaults.headers.isEmpty)
        #expect(defaults.sampler == TraceSampler(.always))
        #expect(defaults.resource.map { "\($0)=\($1)" } == ["service.name=aisle", "service.version=1.2.3"])
        let given = try #require(
            try Self.options([
                "OTEL_EXPORTER_OTLP_HEADERS": "a=ignored",
                "OTEL_EXPORTER_OTLP_TRACES_HEADERS": " api-key = a%20b%3D , x=1=2,",
                "OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_SERVICE_NAME": "shop",
                "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment.name=test,host.name=caf%C3%A9",
                "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25",
            ])
        )
        #expect(given.headers.map { "\($0): \($1)" } == ["api-key: a b=", "x: 1=2"])
        #expect(given.timeout == .milliseconds(2500))
        #expect(given.sampler == TraceSampler(.ratio(0.25), followsParent: false))
        #expect(
            given.resource.map { "\($0)=\($1)" } == [
                "service.name=shop", "service.version=1.2.3", "deployment.environment.name=test", "host.name=café",
            ]
        )
    }

    @Test(
        "An invalid variable is named by the error",
        arguments: [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://collector"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c ollector"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector?a=b"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:secret@host"),
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/v1/traces"), ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "=secret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%secret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%0D%0Asecret"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=%FFsecret"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%+1secret"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "0"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"), ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "-1"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"),
            ("OTEL_TRACES_EXPORTER", "jaeger"), ("OTEL_TRACES_SAMPLER", "sometimes"),
            ("OTEL_TRACES_SAMPLER_ARG", "1.5"),
            ("OTEL_TRACES_SAMPLER_ARG", "nan"), ("OTEL_TRACES_SAMPLER_ARG", "half"), ("OTEL_SDK_DISABLED", "yes"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service"),
        ]
    )
    func rejectsInvalidVariables(name: String, value: String) {
        let error = #expect(throws: TraceOptionsError.self) { try Self.options([name: value]) }
        #expect(error?.description.hasPrefix(name + " must be ") == true)
        #expect(error?.description.contains("secret") == false)
        // A setting is checked even if tracing is off.
        let disabled = ["OTEL_SDK_DISABLED": "true"].merging([name: value]) { $1 }
        #expect(throws: TraceOptionsError.self) { try Self.options(disabled) }
    }
}
