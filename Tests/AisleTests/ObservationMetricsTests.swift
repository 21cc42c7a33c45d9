import Catalog
import CatalogHTTP
import CatalogPostgres
import Live
import Telemetry
import Testing

@testable import aisle

@Suite struct ObservationMetricsTests {
    private let registry = MetricRegistry(ServerMetrics.all)

    private func request(_ method: String = "GET", endpoint: String? = "/v1/stores", status: Int = 200)
        -> HTTPObservation
    {
        .requestCompleted(
            CompletedRequest(
                method: method,
                path: "/v1/stores",
                endpoint: endpoint,
                status: status,
                duration: .milliseconds(3),
                requestID: "1",
                responseBytes: 100
            )
        )
    }

    @Test("Every metric that is declared is registered")
    func everyMetricIsRegistered() throws {
        let source = try RepositoryFile.text("Sources/aisle/Operations/ServerMetrics.swift")
        let declared = source.matches(of: /MetricDefinition\(\s*"(\w+)"/).map { String($0.1) }
        #expect(declared.count > 40)
        #expect(Set(declared).subtracting(ServerMetrics.all.map(\.name)) == [])
    }

    @Test("A request is counted by endpoint, method and status")
    func requests() {
        let metrics = ObservationMetrics(registry)
        metrics.observe(.requestStarted)
        metrics.observe(request())
        let text = registry.text(.prometheus)
        #expect(text.contains(#"aisle_http_requests_total{endpoint="/v1/stores",method="GET",status="200"} 1"#))
        #expect(text.contains(#"aisle_http_request_duration_seconds_count{endpoint="/v1/stores",method="GET"} 1"#))
        #expect(text.contains(#"aisle_http_response_bytes_total{endpoint="/v1/stores"} 100"#))
        #expect(text.contains("aisle_http_requests_in_flight 0\n"))
    }

    @Test("Clients cannot create labels with methods and paths of their own")
    func boundedLabels() {
        let metrics = ObservationMetrics(registry)
        for number in 0..<100 { metrics.observe(request("M\(number)", endpoint: nil, status: 404)) }
        let lines = registry.text(.prometheus).split(separator: "\n").filter {
            $0.hasPrefix("aisle_http_requests_total{")
        }
        #expect(lines == [#"aisle_http_requests_total{endpoint="unknown",method="other",status="404"} 100"#])
    }

    @Test("Rejections of the rate limit are counted by endpoint")
    func rateLimited() {
        ObservationMetrics(registry).observe(request(status: 429))
        #expect(registry.text(.prometheus).contains(#"aisle_rate_limited_requests_total{endpoint="/v1/stores"} 1"#))
    }

    @Test("Every metric has a unit in its name, a help text, and a name that is declared once")
    func declarations() {
        let all = ServerMetrics.all
        #expect(Set(all.map(\.name)).count == all.count)
        for definition in all {
            #expect(!definition.help.isEmpty && definition.help.hasSuffix("."))
            #expect(definition.name.hasPrefix("aisle_") || definition.name.hasPrefix("process_"))
            #expect((definition.kind == .counter) == definition.name.hasSuffix("_total"), "\(definition.name)")
            if case .histogram(let bounds) = definition.kind {
                #expect(bounds == bounds.sorted() && definition.name.hasSuffix("_seconds"))
            }
        }
    }

    @Test("Every observation with a metric raises it")
    func otherObservations() {
        let metrics = ObservationMetrics(registry)
        var summary = ImportSummary()
        (summary.inserted, summary.rejected) = (7, 2)
        let http: [HTTPObservation] = [
            .pageReturned(.cached), .pageReturned(.notModified), .requestFailed(id: "1", detail: "x"),
            .connectionRejected(address: "192.0.2.1"), .eventsSent(.shelf, count: 3),
        ]
        let database: [DatabaseObservation] = [
            .validationGap(constraint: nil, sqlState: "22001"), .databaseError(kind: "53"),
            .laneWaited(lane: "writes", .milliseconds(2)), .shelfRead(.whole, .milliseconds(20)),
            .importCompleted(summary, .seconds(2)), .importFailed(reason: "x", .seconds(1)),
        ]
        for observation in http { metrics.observe(observation) }
        for observation in database { metrics.observe(observation) }
        metrics.observe(FeedObservation.feedUpdated(.user, delay: .milliseconds(20)))
        metrics.observe(HousekeepingObservation.purchasesFolded(count: 11, .seconds(1)))
        metrics.observe(HousekeepingObservation.taskFailed(detail: "x"))
        let text = registry.text(.prometheus)
        for line in [
            #"aisle_pages_total{result="cached"} 1"#, #"aisle_pages_total{result="not_modified"} 1"#,
            #"aisle_pages_total{result="rendered"} 0"#, #"aisle_faults_total{source="housekeeping"} 1"#,
            #"aisle_faults_total{source="request"} 1"#,
            "aisle_validation_gaps_total 1", #"aisle_postgres_errors_total{class="53"} 1"#,
            #"aisle_lane_wait_seconds_bucket{lane="writes",le="0.005"} 1"#,
            "aisle_http_connections_rejected_total 1", #"aisle_events_sent_total{kind="shelf"} 3"#,
            #"aisle_event_delay_seconds_count{kind="user"} 1"#, #"aisle_imports_total{outcome="completed"} 1"#,
            #"aisle_imports_total{outcome="failed"} 1"#, #"aisle_import_rows_total{result="inserted"} 7"#,
            #"aisle_import_rows_total{result="rejected"} 2"#, "aisle_import_duration_seconds_count 2",
            #"aisle_shelf_read_seconds_bucket{kind="whole",le="0.05"} 1"#,
            #"aisle_shelf_read_seconds_count{kind="changes"} 0"#, "aisle_folded_purchases_total 11",
            "aisle_fold_duration_seconds_count 1",
        ] { #expect(text.contains(line + "\n"), "\(line)") }
        // No label contains an address.
        #expect(!text.contains("192.0.2.1"))
    }
}
