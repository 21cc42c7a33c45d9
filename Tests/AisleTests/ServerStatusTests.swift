import Catalog
import Foundation
import JSON
import Telemetry
import Testing

@testable import CatalogPostgres
@testable import Live
@testable import aisle

/// The state of a server as JSON, and as the lines of `aisle status`.
@Suite struct ServerStatusTests {
    private static func run(_ number: Int64, _ state: ResortRun.State, minute: Int64) -> ResortRun {
        ResortRun(
            number: number,
            state: state,
            startedAt: Timestamp(microseconds: minute * 60_000_000),
            endedAt: state == .running ? nil : Timestamp(microseconds: minute * 60_000_000 + 2_500_000),
            request: "{}",
            failure: nil,
            summary: ResortSummary()
        )
    }

    private static func use(count: Int = 0, size: Int = 0, evictions: Int = 0) -> CacheUse {
        var use = CacheUse()
        (use.count, use.size, use.evictions) = (count, size, evictions)
        return use
    }

    private static let state: ServerState = {
        var requests = RecentRequests.Summary()
        (requests.count, requests.errors, requests.rateLimited) = (120, 3, 7)
        (requests.median, requests.percentile99) = (.microseconds(1250), .microseconds(98_764))
        var process = ProcessUsage()
        (process.residentBytes, process.openDescriptors, process.descriptorLimit) = (300 << 20, 42, 1024)
        process.processorSeconds = 1.5
        return ServerState(
            readiness: .ready,
            isDraining: false,
            lanes: [
                LaneUse(lane: "pages", limit: 4, open: 3, inUse: nil, waiting: 2),
                LaneUse(lane: "writes", limit: 8, open: 5, inUse: 1, waiting: 0),
            ],
            shelves: ShelfMemoryUse(
                limit: 512 << 20,
                shelves: Self.use(count: 12, size: 5 << 20, evictions: 4),
                unions: Self.use(size: 1 << 20),
                views: Self.use(size: 2 << 20),
                facets: Self.use(size: 3 << 20),
                products: Self.use(size: 4 << 20),
                hits: 99
            ),
            readServers: [
                ReadServerStatus(kind: .replica, name: "a:5432", problem: nil, reads: 10, lag: .milliseconds(1500)),
                ReadServerStatus(kind: .replica, name: "b:5432", problem: "it lags", reads: 0, lag: nil),
                ReadServerStatus(kind: .worker, name: "w:5432", problem: nil, reads: 5, lag: nil),
            ],
            streams: [
                LiveHub.Use(kind: .shelf, subscriptions: 6, feeds: 2),
                LiveHub.Use(kind: .user, subscriptions: 5, feeds: 5),
            ],
            connections: 77,
            requests: requests,
            resort: ResortStatus([Self.run(2, .running, minute: 3), Self.run(1, .done, minute: 1)]),
            process: process,
            droppedLogLines: 0
        )
    }()

    private static func json(_ state: ServerState, uptime: Int64 = 90_061) throws -> JSONValue {
        let start = Timestamp(microseconds: 1_000_000)
        let now = Timestamp(microseconds: 1_000_000 + uptime * 1_000_000 + 999_999)
        return try JSONReader.parse(state.json(startedAt: start, now: now))
    }

    @Test("The JSON of a server has everything that it reports, in seconds, milliseconds and bytes")
    func json() throws {
        let parts = [
            #"{"version":"\#(Aisle.version)","started_at":"1970-01-01T00:00:01Z","uptime_seconds":90061"#,
            #""ready":{"reads":true,"writes":true},"draining":false"#,
            #""last_minute":{"requests":120,"errors":3,"rate_limited":7,"p50_ms":1.25,"p99_ms":98.764}"#,
            #""connections":77,"lanes":[{"lane":"pages","limit":4,"open":3,"waiting":2}"#,
            #"{"lane":"writes","limit":8,"open":5,"in_use":1,"waiting":0}]"#,
            #""shelf_memory":{"limit_bytes":536870912,"bytes":15728640,"shelves":12,"evicted":4}"#,
            #""replicas":[{"replica":"a:5432","usable":true,"problem":null,"lag_seconds":1.5,"reads":10}"#,
            #"{"replica":"b:5432","usable":false,"problem":"it lags","reads":0}]"#,
            #""workers":[{"worker":"w:5432","usable":true,"problem":null,"reads":5}]"#,
            #""streams":[{"kind":"shelf","open":6},{"kind":"user","open":5}]"#,
            #""resort":{"last_success_at":"1970-01-01T00:01:02.5Z","running":1,"failed":false}"#,
            #""process":{"resident_bytes":314572800,"cpu_seconds":1.5,"open_descriptors":42,"descriptor_limit":1024}"#,
            #""dropped_log_lines":0}"#,
        ]
        #expect(try Self.json(Self.state).text == parts.joined(separator: ","))
        var idle = Self.state
        (idle.requests, idle.resort) = (RecentRequests.Summary(), nil)
        (idle.readiness, idle.process.descriptorLimit) = (.readOnly, nil)
        let json = try Self.json(idle)
        #expect(json["last_minute"]?.text == #"{"requests":0,"errors":0,"rate_limited":0}"#)
        #expect(json["resort"] == nil)
        #expect(json["ready"]?.text == #"{"reads":true,"writes":false}"#)
        #expect(json["process"]?["descriptor_limit"] == .null)
    }

    private static func lines(_ state: ServerState, uptime: Int64 = 90_061) throws -> [String] {
        StatusReport(try json(state, uptime: uptime)).lines
    }

    @Test("The status has a line for each part of the server")
    func lines() throws {
        #expect(
            try Self.lines(Self.state) == [
                "aisle \(Aisle.version), ready, up 1 d 1 h",
                "last minute: 120 requests, 3 errors, 7 rate-limited, p50 1.25 ms, p99 98.76 ms",
                "connections: 77, event streams: 11", "shelves in memory: 12, 15 of 512 MB, 4 evicted",
                "lane pages: 3 open, 4 limit, 2 waiting", "lane writes: 1 in use, 5 open, 8 limit, 0 waiting",
                "replica a:5432: in use, 10 reads", "replica b:5432: passed over: it lags, 0 reads",
                "worker w:5432: in use, 5 reads", "last re-sort: 1970-01-01T00:01:02.5Z; running now",
                "memory: 300 MB, descriptors: 42 of 1024",
            ]
        )
        var other = Self.state
        (other.requests, other.resort, other.droppedLogLines) = (RecentRequests.Summary(), nil, 5)
        (other.lanes, other.readServers, other.process.descriptorLimit) = ([], [], nil)
        #expect(
            try Self.lines(other) == [
                "aisle \(Aisle.version), ready, up 1 d 1 h", "last minute: 0 requests, 0 errors, 0 rate-limited",
                "connections: 77, event streams: 11", "shelves in memory: 12, 15 of 512 MB, 4 evicted",
                "last re-sort: unknown, because the database does not answer", "memory: 300 MB, descriptors: 42",
                "dropped log lines: 5",
            ]
        )
        other.resort = ResortStatus([])
        #expect(try Self.lines(other).contains("last re-sort: none"))
        other.resort = ResortStatus([Self.run(1, .failed, minute: 1)])
        #expect(try Self.lines(other).contains("last re-sort: none; the last run failed"))
        // Another server, or an older one.
        #expect(StatusReport(.object([])).lines.first == "aisle ?, not ready, up 0 s")
    }

    @Test("The readiness is that of the database, and a draining server is not ready for anything")
    func readiness() throws {
        var state = Self.state
        for (readiness, isDraining, text, reads, writes) in [
            (.ready, false, "ready", true, true), (.readOnly, false, "ready for reads only", true, false),
            (.unavailable, false, "not ready", false, false), (.ready, true, "draining", false, false),
        ] as [(Readiness, Bool, String, Bool, Bool)] {
            (state.readiness, state.isDraining) = (readiness, isDraining)
            #expect(state.isReady(for: .reads) == reads && state.isReady(for: .writes) == writes)
            #expect(try Self.lines(state).first == "aisle \(Aisle.version), \(text), up 1 d 1 h")
        }
    }

    @Test(
        "A duration has its two largest units",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"),
            (86_399, "23 h 59 min"), (86_400, "1 d 0 h"), (90 * 86_400 + 7200, "90 d 2 h"),
        ] as [(Int64, String)]
    )
    func uptime(_ seconds: Int64, _ text: String) throws {
        #expect(try Self.lines(Self.state, uptime: seconds).first?.hasSuffix(", up \(text)") == true)
    }

    @Test("The state of re-sorts is that of the last success, of the last end, and of all that run")
    func resorts() {
        #expect(ResortStatus([]).lastSuccess == nil && !ResortStatus([]).hasFailed)
        let runs = [
            Self.run(5, .running, minute: 5), Self.run(4, .interrupted, minute: 4), Self.run(3, .done, minute: 3),
            Self.run(2, .running, minute: 2), Self.run(1, .done, minute: 1),
        ]
        let status = ResortStatus(runs)
        #expect(status.lastSuccess?.number == 3)
        #expect(status.hasFailed)
        #expect(status.runningCount == 2)
        #expect(!ResortStatus(Array(runs.dropFirst(2))).hasFailed)
        #expect(ResortStatus([runs[0]]).lastSuccess == nil && !ResortStatus([runs[0]]).hasFailed)
    }

    @Test("The usage of this process is plausible, and its limit is the system's")
    func process() throws {
        let usage = ProcessUsage.current()
        #expect(usage.processorSeconds > 0 && usage.processorSeconds < 1_000_000)
        #expect(usage.residentBytes > 1 << 20 && usage.residentBytes < usage.virtualBytes)
        #expect(usage.openDescriptors >= 3)
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let resident = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }?.split(separator: " ").dropFirst()
            .first
        let kilobytes = try #require(resident.flatMap { Int($0) })
        #expect(usage.residentBytes > kilobytes << 8 && usage.residentBytes < kilobytes << 12)
        let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
        let limit = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }?.split(separator: " ")
        #expect(usage.descriptorLimit == limit.flatMap { Int($0[3]) })
    }

    @Test("A minute has sixty seconds, and quantiles are those of the durations")
    func recentRequests() throws {
        let requests = RecentRequests()
        let start = ContinuousClock.now
        for second in 0..<120 { requests.add(status: 200, .milliseconds(1), now: start + .seconds(second)) }
        #expect(requests.summary(now: start + .seconds(119)).count == 60)
        #expect(requests.summary(now: start + .seconds(120)).count == 59)
        let statuses = RecentRequests()
        for status in [428, 429, 430, 499, 500, 503] { statuses.add(status: status, .milliseconds(1), now: start) }
        let summary = statuses.summary(now: start)
        #expect(summary.count == 6 && summary.errors == 2 && summary.rateLimited == 1)
        // One slow request of 100 is the 100th, not the 99th; of 50, it is the 50th of the 99th percentile.
        for (count, isSlow) in [(100, false), (50, true)] {
            let durations = RecentRequests()
            for number in 0..<count {
                durations.add(status: 200, number == 0 ? .seconds(5) : .milliseconds(1), now: start)
            }
            let found = durations.summary(now: start)
            let (median, slow) = (try #require(found.median), try #require(found.percentile99))
            #expect((slow > .seconds(4)) == isSlow)
            #expect(median >= .milliseconds(1) && median <= .microseconds(1100))
        }
    }

    @Test("The documentation has all metrics with their kinds and labels, and no other")
    func documentation() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "docs/operations/monitoring.md"), encoding: .utf8)
        let rows = text.matches(of: #/\| `((?:aisle|process)_\w+)` \| (\w+) \|([^|]*)\|/#).map { match in
            let labels = match.3.matches(of: #/`(\w+)`/#).map { String($0.1) }
            return "\(match.1) \(match.2) \(labels.joined(separator: ","))"
        }
        let declared = ServerMetrics.all.map { metric in
            let kind =
                switch metric.kind {
                case .counter: "counter"
                case .gauge: "gauge"
                case .histogram: "histogram"
                }
            return "\(metric.name) \(kind) \(metric.labels.joined(separator: ","))"
        }
        #expect(rows.sorted() == declared.sorted())
    }
}
