import Catalog
import CatalogHTTP
import CatalogPostgres
import Telemetry
import Testing

@testable import aisle

/// The counts of observations that change a metric by an amount or a label of their own.
@Suite struct MetricCountTests {
    private let registry = MetricRegistry(ServerMetrics.all)

    private func expect(_ lines: [String]) {
        let text = registry.text(.prometheus)
        for line in lines { #expect(text.contains("\n\(line)\n"), "\(line)") }
    }

    private func completed(_ method: String, _ status: Int, bytes: Int?) -> HTTPObservation {
        .requestCompleted(
            CompletedRequest(
                method: method,
                path: nil,
                endpoint: nil,
                status: status,
                duration: .milliseconds(3),
                requestID: "1",
                responseBytes: bytes
            )
        )
    }

    @Test("Before the first observation, the counters of rare events are zero")
    func zeros() {
        _ = ObservationMetrics(registry)
        expect([
            "aisle_http_connections_rejected_total 0", "aisle_validation_gaps_total 0",
            "aisle_folded_purchases_total 0",
            "aisle_shelf_images_written_total 0", #"aisle_imports_total{outcome="completed"} 0"#,
            #"aisle_imports_total{outcome="failed"} 0"#, #"aisle_faults_total{source="request"} 0"#,
            #"aisle_events_sent_total{kind="shelf"} 0"#, #"aisle_events_sent_total{kind="user"} 0"#,
            #"aisle_shelf_read_seconds_count{kind="image"} 0"#, #"aisle_shelf_read_seconds_count{kind="whole"} 0"#,
            #"aisle_pages_total{result="rendered"} 0"#,
        ])
    }

    @Test("Requests in flight are those that started and did not complete, and each method has its label")
    func requests() {
        let metrics = ObservationMetrics(registry)
        for _ in 0..<9 { metrics.observe(.requestStarted) }
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            metrics.observe(completed(method, 200, bytes: method == "GET" ? nil : 10))
        }
        expect(["aisle_http_requests_in_flight 2", #"aisle_http_response_bytes_total{endpoint="unknown"} 60"#])
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            expect([#"aisle_http_requests_total{endpoint="unknown",method="\#(method)",status="200"} 1"#])
        }
        for status in [428, 429, 429] { metrics.observe(completed("GET", status, bytes: nil)) }
        expect([#"aisle_rate_limited_requests_total{endpoint="unknown"} 2"#])
        #expect(metrics.recent.summary().count == 10)
        #expect(metrics.recent.summary().rateLimited == 2)
    }

    @Test("Reads that another server could not answer, lanes and imports are counted by their labels")
    func labels() {
        let metrics = ObservationMetrics(registry)
        var summary = ImportSummary()
        (summary.inserted, summary.updated, summary.unchanged, summary.rejected, summary.repeated) = (1, 2, 3, 4, 5)
        let observations: [DatabaseObservation] = [
            .replicaPassedOver(name: "r", reason: "x"), .workerPassedOver(name: "w", reason: "x"),
            .replicaChanged(name: "r", reason: nil), .workerChanged(name: "w", reason: nil),
            .databaseUnavailable(reason: "x"), .shelfImageWritten, .shelfRead(.image, .milliseconds(20)),
            .laneWaited(lane: "batch", .milliseconds(2)), .laneWaited(lane: "batch", .milliseconds(2)),
            .importCompleted(summary, .seconds(2)),
        ]
        for observation in observations { metrics.observe(observation) }
        expect([
            #"aisle_replica_fallbacks_total{replica="r"} 1"#, #"aisle_worker_fallbacks_total{worker="w"} 1"#,
            "aisle_shelf_images_written_total 1", #"aisle_shelf_read_seconds_count{kind="image"} 1"#,
            #"aisle_lane_wait_seconds_count{lane="batch"} 2"#, #"aisle_import_rows_total{result="inserted"} 1"#,
            #"aisle_import_rows_total{result="updated"} 2"#, #"aisle_import_rows_total{result="unchanged"} 3"#,
            #"aisle_import_rows_total{result="rejected"} 4"#, #"aisle_import_rows_total{result="repeated"} 5"#,
            #"aisle_imports_total{outcome="completed"} 1"#, #"aisle_imports_total{outcome="failed"} 0"#,
        ])
        let before = Double(Timestamp.now().microseconds) / 1e6
        metrics.observe(HousekeepingObservation.purchasesFolded(count: 3, .seconds(1)))
        let line = registry.text(.prometheus).split(separator: "\n").first {
            $0.hasPrefix("aisle_fold_last_success_timestamp_seconds ")
        }
        let time = line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
        #expect(time >= before - 1 && time < before + 300)
    }
}
