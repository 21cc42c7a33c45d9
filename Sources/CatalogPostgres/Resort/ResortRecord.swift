internal import Catalog
internal import LibPQ

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
