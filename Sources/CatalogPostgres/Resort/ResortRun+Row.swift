internal import Catalog
internal import LibPQ

extension ResortRun {
    /// Reads a run from a row of `ResortStatements.runs`.
    init(_ row: borrowing PostgresRow) throws {
        let endedAt = row.isNull(2) ? nil : Timestamp(microseconds: try row.timestamptz(2))
        let failure = try row.textOrNil(4)
        var summary = ResortSummary()
        summary.events = try row.int(5)
        summary.products = try row.int(6)
        summary.shelves = try row.int(7)
        summary.changed = try row.int(8)
        summary.moved = try row.int(9)
        let isAlive = try row.bool(10)
        self.init(
            number: try row.int8(0),
            state: endedAt == nil ? (isAlive ? .running : .interrupted) : (failure == nil ? .done : .failed),
            startedAt: Timestamp(microseconds: try row.timestamptz(1)),
            endedAt: endedAt,
            request: try row.text(3),
            failure: failure,
            summary: summary
        )
    }
}

/// The run's row in the history, which accumulates its totals.
struct ResortRecord: Sendable {
    let lane: Lane
    let number: Int64

    func add(_ done: ResortSummary) async throws {
        let counts = [done.events, done.products, done.shelves, done.changed, done.moved]
        try await lane.perform(within: .bulk) {
            _ = try $0.execute(ResortStatements.add, [.int8(number)] + counts.map { .int8(Int64($0)) })
        }
    }

    func end(_ failure: String?) async throws {
        try await lane.perform(within: .lookup) {
            _ = try $0.execute(ResortStatements.end, [.int8(number), .text(failure)])
        }
    }
}
