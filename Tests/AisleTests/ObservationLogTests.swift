import Catalog
import CatalogHTTP
import CatalogPostgres
import Glibc
import JSON
import Live
import Logging
import Telemetry
import Testing

@testable import aisle

/// The lines of the log about observations, and the observers of a server.
@Suite struct ObservationLogTests {
    /// Returns the lines that a body writes to a log, without their times.
    private static func lines(
        _ level: Logger.Level = .trace,
        logsRequests: Bool = false,
        _ body: (ObservationLog, ServerLog) -> Void
    ) throws -> [String] {
        var descriptors: [Int32] = [0, 0]
        try #require(pipe(&descriptors) == 0)
        let log = try ServerLog(.json, level: level, descriptor: descriptors[1])
        body(ObservationLog(log, logsRequests: logsRequests), log)
        log.write(LogLine(level: .critical, message: "end"))
        // The log's thread writes to the descriptor until the process ends, so it stays open.
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !text.hasSuffix("\"end\"}\n") {
            let count = read(descriptors[0], &buffer, buffer.count)
            try #require(count > 0)
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        return text.split(separator: "\n").dropLast().map { line in
            "{" + String(line.drop { $0 != "," }.dropFirst())
        }
    }

    private static func request(steps: [CompletedRequest.Step]? = nil, isComplete: Bool = true) -> HTTPObservation {
        .requestCompleted(
            CompletedRequest(
                method: "GET",
                path: isComplete ? "/v1/stores" : nil,
                endpoint: isComplete ? "/v1/stores" : nil,
                status: 200,
                duration: .microseconds(1234),
                requestID: "r1",
                traceID: isComplete ? "t1" : nil,
                client: isComplete ? "192.0.2.1" : nil,
                responseBytes: isComplete ? 100 : nil,
                steps: steps
            )
        )
    }

    private static let complete =
        #""request_id":"r1","trace_id":"t1","method":"GET","endpoint":"/v1/stores","path":"/v1/stores","#
        + #""status":200,"duration_ms":1.234,"client":"192.0.2.1","bytes":100"#

    @Test("Requests have a line only if that is wanted, and slow ones have their steps")
    func requests() throws {
        #expect(try Self.lines { log, _ in log.observe(Self.request()) } == [])
        #expect(
            // The access log does not depend on the level.
            try Self.lines(.critical, logsRequests: true) { log, _ in log.observe(Self.request()) }
                == [#"{"level":"info","message":"request",\#(Self.complete)}"#]
        )
        #expect(
            try Self.lines(logsRequests: true) { log, _ in log.observe(Self.request(isComplete: false)) } == [
                #"{"level":"info","message":"request","request_id":"r1","method":"GET","endpoint":"unknown","#
                    + #""status":200,"duration_ms":1.234}"#
            ]
        )
        let steps = [
            CompletedRequest.Step(kind: "wait", name: "writes", duration: .microseconds(200)),
            CompletedRequest.Step(kind: "statement", name: "Orders.lock", duration: .milliseconds(3)),
        ]
        let slow =
            #"{"level":"warning","message":"slow request",\#(Self.complete),"#
            + #""steps":"wait writes 0.2 ms, statement Orders.lock 3.0 ms"}"#
        #expect(try Self.lines { log, _ in log.observe(Self.request(steps: steps)) } == [slow])
        #expect(
            try Self.lines(logsRequests: true) { log, _ in log.observe(Self.request(steps: steps)) }
                == [#"{"level":"info","message":"request",\#(Self.complete)}"#, slow]
        )
    }

    @Test("Each observation has a line that says what happened, or none")
    func observations() throws {
        var summary = ImportSummary()
        (summary.read, summary.inserted) = (3, 2)
        for name in ["rating", "origin", "rating"] {
            summary.unreadableAttributes.add(ImportRejection(line: 2, column: name, reason: "is wrong"), of: name)
        }
        let http: [HTTPObservation] = [
            .requestStarted, .pageReturned(.cached), .eventsSent(.shelf, count: 3),
            .requestFailed(id: "r1", detail: "x"), .connectionRejected(address: "192.0.2.1"),
        ]
        let database: [DatabaseObservation] = [
            .databaseError(kind: "53"), .laneWaited(lane: "writes", .seconds(1)), .shelfRead(.whole, .seconds(1)),
            .shelfImageWritten, .validationGap(constraint: nil, sqlState: "22001"),
            .validationGap(constraint: "c", sqlState: "23514"), .databaseUnavailable(reason: "down"),
            .replicaChanged(name: "a", reason: nil), .replicaChanged(name: "a", reason: "lag"),
            .replicaPassedOver(name: "a", reason: "slow"), .workerChanged(name: "w", reason: nil),
            .workerChanged(name: "w", reason: "down"), .workerPassedOver(name: "w", reason: "slow"),
            .importCompleted(summary, .milliseconds(1500)),
            .importFailed(reason: String(repeating: "x", count: 501), .seconds(2)),
        ]
        let lines = try Self.lines { log, _ in
            for observation in http { log.observe(observation) }
            for observation in database { log.observe(observation) }
            log.observe(HousekeepingObservation.purchasesFolded(count: 0, .seconds(1)))
            log.observe(HousekeepingObservation.purchasesFolded(count: 1, .seconds(1)))
            log.observe(HousekeepingObservation.taskFailed(detail: "x"))
        }
        #expect(
            lines == [
                #"{"level":"error","message":"request failed with an internal error: x","request_id":"r1"}"#,
                #"{"level":"warning","message":"rejected a connection from 192.0.2.1: it already has a tenth of "#
                    + #"AISLE_CONNECTIONS; if it is a proxy, add it to AISLE_TRUSTED_PROXIES"}"#,
                #"{"level":"warning","message":"the database rejected a value that passed validation (SQLSTATE 22001)"}"#,
                #"{"level":"warning","message":"the database rejected a value that passed validation (c)"}"#,
                #"{"level":"warning","message":"the database is unreachable or overloaded: down"}"#,
                #"{"level":"notice","message":"the replica a is used for reads"}"#,
                #"{"level":"warning","message":"the replica a is passed over: lag"}"#,
                #"{"level":"warning","message":"a read was repeated on the primary, because the replica a could not "#
                    + #"answer: slow"}"#,
                #"{"level":"notice","message":"pages are read from the worker w"}"#,
                #"{"level":"warning","message":"pages are not read from the worker w, but through the coordinator: down"}"#,
                #"{"level":"warning","message":"a read was retried through the coordinator, because the worker w could "#
                    + #"not answer: slow"}"#,
                #"{"level":"info","message":"import finished","duration_ms":1500.0,"read":3,"inserted":2,"attributes_unreadable":3,"unreadable_attributes":"origin 1, rating 2"}"#,
                #"{"level":"warning","message":"import failed; stores that were already imported keep their changes","#
                    + #""reason":"\#(String(repeating: "x", count: 500))","duration_ms":2000.0}"#,
                #"{"level":"info","message":"purchases folded","purchases":1,"duration_ms":1000.0}"#,
                #"{"level":"error","message":"housekeeping failed with an internal error: x"}"#,
            ]
        )
    }

    @Test("Of one kind of problem, ten lines a second are written; the next line has the number of the others")
    func throttle() throws {
        var descriptors: [Int32] = [0, 0]
        try #require(pipe(&descriptors) == 0)
        let serverLog = try ServerLog(.json, level: .info, descriptor: descriptors[1])
        let log = ObservationLog(serverLog)
        let warning = DatabaseObservation.databaseUnavailable(reason: "down")
        // Other kinds have limits of their own.
        for _ in 0..<14 { log.observe(warning) }
        log.observe(DatabaseObservation.workerPassedOver(name: "w", reason: "slow"))
        let deadline = ContinuousClock.now + .seconds(60)
        var lines: [Substring] = []
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !text.contains("suppressed"), ContinuousClock.now < deadline {
            log.observe(warning)
            serverLog.flush()
            let count = read(descriptors[0], &buffer, buffer.count)
            try #require(count > 0)
            text += String(decoding: buffer[..<count], as: UTF8.self)
            lines = text.split(separator: "\n")
            // The pipe is never empty at the next reading.
            serverLog.write(LogLine(level: .info, message: "again"))
        }
        let before = lines.prefix { !$0.contains("suppressed") }
        #expect(before.count { $0.contains("unreachable") } == 10)
        #expect(before.count { $0.contains("retried") } == 1)
        let next = lines.first { $0.contains("suppressed") }
        let json = try JSONReader.parse(Array((next ?? "").utf8))
        guard case .number(let suppressed)? = json["suppressed"] else { return #expect(Bool(false), "\(lines)") }
        #expect((Int(suppressed) ?? 0) >= 4)
    }

    @Test("Lines below the level are not written, and loggers of libraries write their metadata in order")
    func levels() throws {
        let lines = try Self.lines(.warning) { _, log in
            log.write(LogLine(level: .notice, message: "no"))
            log.write(LogLine(level: .warning, message: "yes"))
            log.write(LogLine(level: .debug, message: "always"), always: true)
            var logger = log.logger
            #expect(logger.logLevel == .warning)
            logger[metadataKey: "b"] = "own"
            logger[metadataKey: "c"] = "own"
            logger.info("no")
            logger.error("failed", metadata: ["a": "1", "b": "2"])
            #expect(logger[metadataKey: "b"] == "own")
        }
        #expect(
            lines == [
                #"{"level":"warning","message":"yes"}"#, #"{"level":"debug","message":"always"}"#,
                #"{"level":"error","message":"failed","a":"1","b":"2","c":"own"}"#,
            ]
        )
    }

    @Test("Observations are measured only if an admin port can show them", arguments: [false, true])
    func observers(_ isMeasured: Bool) throws {
        var environment = ["AISLE_LOG_LEVEL": "critical"]
        if isMeasured { environment["AISLE_ADMIN_PORT"] = "0" }
        let telemetry = try ServerTelemetry(try ServerSettings(file: nil, environment: environment))
        telemetry.http.observe(.requestFailed(id: "1", detail: "x"))
        telemetry.database.observe(.databaseError(kind: "53"))
        telemetry.feeds.observe(.feedUpdated(.user, delay: .milliseconds(20)))
        telemetry.housekeeping.observe(.purchasesFolded(count: 7, .seconds(1)))
        let text = telemetry.registry.text(.prometheus)
        #expect(text.contains("aisle_folded_purchases_total \(isMeasured ? 7 : 0)\n"))
        #expect(text.contains("aisle_faults_total{source=\"request\"} \(isMeasured ? 1 : 0)\n"))
        #expect(text.contains("aisle_postgres_errors_total{class=\"53\"} 1\n") == isMeasured)
        #expect(text.contains("aisle_event_delay_seconds_count{kind=\"user\"} 1\n") == isMeasured)
        #expect(text.contains("aisle_fold_last_success_timestamp_seconds ") == isMeasured)
    }
}
