internal import Catalog
internal import Synchronization

/// The work queue that the jobs of a re-sort share.
final class ResortQueue: Sendable {
    private struct State {
        var next = 0
        var done = 0
    }

    /// The groups of shelves.
    private let groups: [[Int32]]
    private let state = Mutex(State())
    /// The number of shelves.
    let count: Int

    /// - Parameters:
    ///   - shelves: ids and numbers of products, in the order of ids.
    ///   - groupSize: the number of products of a group, unless a shelf has more.
    init(_ shelves: [(id: Int32, products: Int)], groupSize: Int) {
        count = shelves.count
        var groups: [[Int32]] = []
        var group: [Int32] = []
        var products = 0
        for shelf in shelves {
            if !group.isEmpty, products + shelf.products > groupSize || group.count >= Self.groupLimit {
                groups.append(group)
                (group, products) = ([], 0)
            }
            group.append(shelf.id)
            products += shelf.products
        }
        self.groups = group.isEmpty ? groups : groups + [group]
    }

    /// The maximum number of shelves that a transaction locks.
    private static let groupLimit = 200

    /// Returns the next group.
    func take() -> [Int32]? {
        state.withLock { state in
            guard state.next < groups.count else { return nil }
            state.next += 1
            return groups[state.next - 1]
        }
    }

    /// Counts finished shelves and returns the total.
    func countShelves(_ count: Int) -> Int {
        state.withLock {
            $0.done += count
            return $0.done
        }
    }
}

/// The totals of a store's re-sort so far, to which several tasks add.
final class ResortCounter: Sendable {
    private let counted = Mutex(ResortSummary())

    var total: ResortSummary { counted.withLock { $0 } }

    func add(_ done: ResortSummary) { counted.withLock { $0.add(done) } }
}
