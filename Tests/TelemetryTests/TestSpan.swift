import Platform
import Tracing

@testable import Telemetry

extension FinishedSpan {
    /// A span with fixed ids, apart from its own.
    static func test(_ id: UInt64 = 2, parent: UInt64? = nil, name: String = "GET /v1/stores") -> FinishedSpan {
        let position = TraceParent(trace: TraceID(high: 0xABC, low: 1)!, span: SpanID(id)!, isSampled: true)
        return FinishedSpan(
            position: position,
            parent: parent.flatMap(SpanID.init),
            name: name,
            kind: .server,
            start: 1_700_000_000_000_000_001,
            end: 1_700_000_000_000_002_000
        )
    }
}
