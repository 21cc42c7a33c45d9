import JSON
import Catalog
import CatalogJSON
import Foundation
import Testing
import TestSupport
import WebClient

/// Traces of real servers, sent to a collector on a real socket.
@Suite(.timeLimit(.minutes(15))) struct TraceTests {
    private static let page = "/stores/corner/shelves/cheese/products?sort=price&limit=5"

    /// Sends a request that continues a trace, and returns the response.
    private static func send(
        _ method: String,
        _ url: String,
        _ body: String = "",
        _ contentType: String = "application/json",
        trace: String,
        isSampled: Bool = true
    ) async throws -> HTTPFetchResponse {
        let token = try await TestServers.token("ann", [.catalogWrite])
        let fetch = HTTPFetch(
            method,
            url,
            headers: [
                ("Authorization", "Bearer \(token)"), ("Content-Type", contentType),
                ("traceparent", "00-\(trace)-b7ad6b7169203331-0\(isSampled ? 1 : 0)"),
            ],
            body: body.isEmpty ? nil : Array(body.utf8),
            timeout: .seconds(60)
        )
        return try await HTTPClient.shared.send(fetch)
    }

    /// An id of a trace.
    private static func trace(_ number: Int) -> String { "0af7651916cd43dd8448eb211c8031" + String(10 + number) }

    @Test("The spans of a page, a write and an import arrive, with their parents, names and times")
    func spansArrive() async throws {
        let collector = try TraceCollector()
        let variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20b",
        ]
        try await TestServers.run(variables) { servers in
            let page = try await Self.send("GET", servers.url(0, Self.page), trace: Self.trace(1))
            #expect(page.status == 200)
            let move = try await Self.send(
                "POST",
                servers.url(1, "/stores/corner/shelves/cheese/order/moves"),
                #"{"moves":[{"ids":["\#(try Self.lastProduct(page))"],"place":"first"}]}"#,
                trace: Self.trace(2)
            )
            #expect(move.status == 200, "\(String(decoding: move.body, as: UTF8.self))")
            let file = "shelf,sku,name,price\nDairy,traced-1,Traced,1.99\n"
            let imported = try await Self.send(
                "POST",
                servers.url(0, "/stores/corner/imports"),
                file,
                "text/csv",
                trace: Self.trace(3)
            )
            #expect(imported.status == 200, "\(String(decoding: imported.body, as: UTF8.self))")
            let requests = [
                "GET /v1/stores/{store}/shelves/{shelf}/products",
                "POST /v1/stores/{store}/shelves/{shelf}/order/moves", "POST /v1/stores/{store}/imports",
            ]
            #expect(
                try await collector.wait { spans in requests.allSatisfy { name in spans.contains { $0.name == name } } }
            )
            for (number, name) in requests.enumerated() {
                let trace = Self.trace(number + 1)
                let spans = collector.spans.filter { $0.trace == trace }
                let request = try #require(spans.first { $0.name == name })
                let response = [page, move, imported][number]
                let header = response.head.headers.first { $0.name.lowercased() == "traceparent" }?.value
                #expect(header?.hasPrefix("00-\(trace)-\(request.id)-") == true)
                #expect(request.parent == "b7ad6b7169203331")
                #expect(request.kind == 2)
                let steps = spans.filter { $0.id != request.id }
                #expect(Set(spans.map(\.id)).count == spans.count)
                #expect(steps.filter { $0.parent != request.id || !$0.isWithin(request) } == [], "of \(request)")
                let statements = steps.filter { $0.attributes["db.system.name"] == "postgresql" }
                #expect(!statements.isEmpty)
                #expect(statements.allSatisfy { $0.kind == 3 && $0.attributes["db.query.summary"] != nil })
            }
            func names(_ number: Int) -> Set<String> {
                Set(collector.spans.filter { $0.trace == Self.trace(number) }.map(\.name))
            }
            #expect(
                names(1).isSuperset(of: [
                    "wait pages", "ShelfLookup.oneHead", "ShelfReadStatements.whole", "render page",
                ])
            )
            #expect(names(2).isSuperset(of: ["wait writes", "BEGIN", "COMMIT"]))
            #expect(
                names(3).isSuperset(of: ["wait imports", "ImportStatements.stage", "ImportStatements.upsertProducts"])
            )
            let values = collector.spans.flatMap(\.attributes.values)
            #expect(!values.contains { $0 == "ann" || $0.contains("Bearer") })
        }
        #expect(collector.requests.allSatisfy { $0.hasPrefix("POST /v1/traces HTTP/1.1\r\n") })
        #expect(collector.requests.allSatisfy { $0.contains("api-key: a b\r\n") })
        #expect(collector.requests.allSatisfy { !$0.lowercased().contains("traceparent") })
        collector.close()
    }

    private static func lastProduct(_ page: HTTPFetchResponse) throws -> String {
        guard case .array(let products)? = try JSONReader.parse(page.body)["products"],
            case .string(let sku)? = products.last?["sku"]
        else { return "" }
        return sku
    }

    @Test("Requests that the client does not sample send nothing; spans that still wait arrive at shutdown")
    func unsampledRequestsSendNothing() async throws {
        let collector = try TraceCollector()
        try await TestServers.run(["OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint]) { servers in
            for number in 0..<20 {
                let response = try await Self.send(
                    "GET",
                    servers.url(number % 2, Self.page),
                    trace: Self.trace(1),
                    isSampled: false
                )
                #expect(response.status == 200)
            }
            // The last request before the servers stop.
            for server in 0..<2 {
                #expect(try await Self.send("GET", servers.url(server, Self.page), trace: Self.trace(2)).status == 200)
            }
        }
        #expect(collector.spans.count { $0.kind == 2 && $0.trace == Self.trace(2) } == 2)
        #expect(collector.spans.allSatisfy { $0.trace != Self.trace(1) })
        collector.close()
    }

    @Test("A batch that the collector refuses for a moment arrives later")
    func retriesAfterUnavailability() async throws {
        let collector = try TraceCollector([.unavailable(retryAfter: 1), .unavailable(retryAfter: 0)])
        try await TestServers.run(["OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint]) {
            (servers: TestServers) async throws in
            #expect(try await Self.send("GET", servers.url(0, Self.page), trace: Self.trace(1)).status == 200)
            #expect(try await collector.wait { $0.contains { $0.kind == 2 && $0.trace == Self.trace(1) } })
        }
        #expect(collector.requests.count >= 3)
        collector.close()
    }

    @Test("A collector that hangs or is gone slows no request, and the servers still stop", arguments: [true, false])
    func brokenCollectorsDoNoHarm(hangs: Bool) async throws {
        let collector = try TraceCollector(then: .silence)
        if !hangs { collector.close() }
        var process: TestProcess?
        var stopping = ContinuousClock.now
        // A collector that hangs is given up only when the servers stop.
        let variables = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT": "600000",
        ]
        try await TestServers.run(variables) { servers in
            // More spans than the queue keeps.
            for _ in 0..<1500 {
                let response = try await Self.send("GET", servers.url(0, Self.page), trace: Self.trace(1))
                #expect(response.status == 200)
            }
            process = servers.processes[0]
            stopping = .now
        }
        // The flush has three seconds, and the servers stop at the same time as without a collector.
        #expect(ContinuousClock.now - stopping < .seconds(30))
        let log = try #require(process).standardError
        #expect(log.contains("cannot send spans to the trace collector"))
        // The queue was full before the collector was given up.
        if hangs { #expect(!log.contains(", 0 beyond the queue's limit")) }
        #expect(collector.spans.isEmpty)
        if hangs { collector.close() }
    }

    @Test("An invalid variable is a configuration error, and `config show` does not show the headers")
    func settingsAreChecked() async throws {
        let shown = try TestProcess(
            ["config", "show"],
            environment: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318", "OTEL_EXPORTER_OTLP_HEADERS": "api-key=hidden",
                "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25",
                "OTEL_SERVICE_NAME": "shop",
            ]
        )
        #expect(await shown.wait() == 0, "\(shown.standardError)")
        for line in [
            "otel.exporter.otlp.traces.endpoint\thttp://collector:4318/v1/traces", "otel.exporter.otlp.headers\t1 set",
            "otel.traces.sampler\tparentbased_traceidratio 0.25", "otel.service.name\tshop",
        ] { #expect(shown.standardOutput.contains(line + "\n")) }
        #expect(!shown.standardOutput.contains("hidden"))
        let failed = try TestProcess(["config", "show"], environment: ["OTEL_TRACES_SAMPLER": "sometimes"])
        #expect(await failed.wait() == 78)
        #expect(failed.standardError.contains("OTEL_TRACES_SAMPLER must be one of always_on"))
    }
}
