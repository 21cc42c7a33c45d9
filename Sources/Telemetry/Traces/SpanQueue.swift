/// The spans that wait to be exported. A full queue drops new spans and counts them.
struct SpanQueue {
    private let limit: Int
    private let batchSize: Int
    private var spans: [FinishedSpan] = []
    /// The number of dropped spans.
    private(set) var dropped = 0

    /// - Parameters:
    ///   - limit: the maximum number of waiting spans.
    ///   - batchSize: the maximum number of spans of a batch.
    init(limit: Int, batchSize: Int) {
        self.limit = limit
        self.batchSize = batchSize
    }

    var count: Int { spans.count }

    /// Adds a span, or drops it; returns whether a batch has just become complete.
    mutating func add(_ span: FinishedSpan) -> Bool {
        guard spans.count < limit else {
            dropped += 1
            return false
        }
        if spans.isEmpty { spans.reserveCapacity(min(limit, batchSize)) }
        spans.append(span)
        return spans.count == batchSize
    }

    /// Removes and returns the oldest spans, at most a batch.
    mutating func takeBatch() -> [FinishedSpan] {
        guard spans.count > batchSize else {
            defer { spans = [] }
            return spans
        }
        defer { spans.removeFirst(batchSize) }
        return Array(spans.prefix(batchSize))
    }
}
