internal import Synchronization

/// Counts the rows that a request reads, which are charged when it is done.
final class WorkMeter: Sendable {
    private let count = Atomic<Int>(0)

    var rows: Int { count.load(ordering: .relaxed) }

    func add(rows: Int) { count.add(rows, ordering: .relaxed) }
}
