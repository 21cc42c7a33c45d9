internal import Catalog
internal import Synchronization

/// The totals of a store's re-sort so far, to which several tasks add.
final class ResortCounter: Sendable {
    private let counted = Mutex(ResortSummary())

    var total: ResortSummary { counted.withLock { $0 } }

    func add(_ done: ResortSummary) { counted.withLock { $0.add(done) } }
}
