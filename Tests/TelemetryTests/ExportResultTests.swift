import Testing

@testable import Telemetry
@testable import WebClient

@Suite(.timeLimit(.minutes(15))) struct ExportResultTests {
    private static func result(_ status: Int, retryAfter: String? = nil, body: String = "{}") -> ExportResult {
        let head = HTTPFetchHead(status: status, headers: retryAfter.map { [("retry-AFTER", $0)] } ?? [])
        return ExportResult(HTTPFetchResponse(head: head, body: Array(body.utf8)))
    }

    @Test(
        "A collector can reject some of the spans that it receives",
        arguments: [
            (#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, 3, "too old"),
            (#"{"partialSuccess":{"rejectedSpans":2}}"#, 2, ""),
            (#"{"partialSuccess":{"rejectedSpans":"-1"}}"#, 0, ""), (#"{"partialSuccess":{}}"#, 0, ""),
            (#"{"partialSuccess":{"rejectedSpans":"many"}}"#, 0, ""), ("", 0, ""), ("[]", 0, ""), ("ok", 0, ""),
        ]
    )
    func readsPartialSuccess(body: String, rejected: Int, reason: String) {
        #expect(Self.result(200, body: body) == .accepted(rejected: rejected, reason: reason))
    }

    @Test("Only statuses that mean a temporary failure are retried")
    func readsStatuses() {
        for status in [200, 202, 204] { #expect(Self.result(status) == .accepted()) }
        for status in [429, 502, 503, 504] {
            #expect(Self.result(status) == .retryable(reason: "status \(status)", after: nil))
        }
        for status in [301, 400, 401, 404, 413, 500, 501] {
            #expect(Self.result(status) == .refused(reason: "status \(status)"))
        }
    }

    @Test(
        "A requested delay is kept up to a minute; an invalid one is ignored",
        arguments: [
            ("7", Duration.seconds(7)), ("0", .zero), ("99999999999", .seconds(60)), ("-1", nil), ("soon", nil),
            ("", nil),
            ("Wed, 21 Oct 2065 07:28:00 GMT", nil),
        ]
    )
    func readsRetryAfter(text: String, delay: Duration?) {
        #expect(Self.result(503, retryAfter: text) == .retryable(reason: "status 503", after: delay))
    }

    @Test("Delays double up to a limit, and vary, so that servers do not retry together")
    func delaysDouble() {
        func delays(_ jitter: Double) -> [Duration] {
            [1, 2, 3, 4, 5, 6, 60].map { ExportResult.delay(after: $0, requested: nil, jitter: jitter) }
        }
        #expect(delays(1) == [1, 2, 4, 8, 16, 16, 16].map { Duration.seconds($0) })
        #expect(delays(0) == [0.5, 1, 2, 4, 8, 8, 8].map { Duration.seconds($0) })
        #expect(ExportResult.delay(after: 9, requested: .seconds(10), jitter: 0) == .seconds(10))
        #expect(ExportResult.delay(after: 1, requested: .seconds(10), jitter: 1) == .seconds(11))
    }
}
