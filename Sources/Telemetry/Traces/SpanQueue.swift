/// The spans that wait to be exported. A full queue drops new spans and counts them.
struct SpanQueue {
    private let limit: Int
    private let batchSize: Int
    private var spans: [FinishedSpan] = []
    /// The number of waiting spans, including those of steps.
    private(set) var count = 0
    /// The number of dropped spans.
    private(set) var dropped = 0

    /// - Parameters:
    ///   - limit: the maximum number of waiting spans.
    ///   - batchSize: the number of spans of a batch.
    init(limit: Int, batchSize: Int) {
        self.limit = limit
        self.batchSize = batchSize
    }

    /// Adds a span with its steps, or drops all of them; returns whether a batch has just become complete.
    mutating func add(_ span: FinishedSpan) -> Bool {
        guard count + span.count <= limit else {
            dropped += span.count
            return false
        }
        spans.append(span)
        count += span.count
        return count >= batchSize && count - span.count < batchSize
    }

    /// Removes and returns the oldest spans, about a batch: the steps of a span stay together.
    mutating func takeBatch() -> [FinishedSpan] {
        var (index, size) = (0, 0)
        while index < spans.count, size < batchSize {
            size += spans[index].count
            index += 1
        }
        count -= size
        guard index < spans.count else {
            defer { spans = [] }
            return spans
        }
        defer { spans.removeFirst(index) }
        return Array(spans.prefix(index))
    }
}
