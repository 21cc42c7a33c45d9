internal import LibPQ

/// The shards of stores and those of users, with the workers that have them.
struct ShardRanges: Sendable {
    /// A shard, which has the rows whose owners' hashes are in a range, on a worker.
    struct Placement: Sendable {
        let shard: Int64
        let worker: WorkerAddress
        let hashes: ClosedRange<Int32>
    }

    /// The shards of the tables that are distributed by the same column, in the order of their hashes.
    struct Group: Sendable {
        private(set) var placements: [Placement] = []

        init(_ placements: [Placement] = []) {
            self.placements = placements.sorted { $0.hashes.lowerBound < $1.hashes.lowerBound }
        }

        /// Returns the shard of a hash; nil if it is not known.
        ///
        /// - Complexity: O(log *n*).
        func placement(of hash: Int32) -> Placement? {
            var (low, high) = (0, placements.count)
            while low < high {
                let middle = (low + high) / 2
                if placements[middle].hashes.upperBound < hash { low = middle + 1 } else { high = middle }
            }
            return low < placements.count && placements[low].hashes.contains(hash) ? placements[low] : nil
        }
    }

    private(set) var stores = Group()
    private(set) var users = Group()

    init() {}

    init(stores: [Placement], users: [Placement]) { (self.stores, self.users) = (Group(stores), Group(users)) }

    /// Reads the rows of `WorkerStatements.shards`.
    init(_ rows: borrowing PostgresRows) throws {
        var found: [Bool: [Placement]] = [:]
        try rows.forEach { row in
            let (lowest, highest) = (try row.int4(4), try row.int4(5))
            guard lowest <= highest else { throw PostgresError(.decoding, "invalid range of hashes") }
            let placement = Placement(
                shard: try row.int8(0),
                worker: try WorkerAddress(row, from: 1),
                hashes: lowest...highest
            )
            found[try row.bool(3), default: []].append(placement)
        }
        self.init(stores: found[true] ?? [], users: found[false] ?? [])
    }

    /// The workers that have shards.
    var workers: Set<WorkerAddress> { Set((stores.placements + users.placements).map(\.worker)) }

    subscript(owner: DataOwner) -> Group {
        switch owner {
        case .store: stores
        case .user: users
        }
    }
}
