internal import Catalog
internal import Crypto
internal import LibPQ
internal import Shelves
internal import Synchronization

/// The unions that this server has in memory: the products of a shelf and of all shelves below it, or of all shelves of a store, in a table of
/// their own.
///
/// A union is used only at the versions of all its shelves.
final class ShelfUnions: Sendable {
    /// Identifies a union: a shelf with all shelves below it, or all shelves of a store.
    enum Key: Hashable, Sendable {
        case descendants(of: ShelfLocation)
        case allShelves(storeID: Int32)

        var storeID: Int32 {
            switch self {
            case .descendants(of: let upper): upper.storeID
            case .allShelves(let storeID): storeID
            }
        }
    }

    /// The head that a union is shown with, and the union's key.
    struct KeyedHead: Sendable {
        let key: Key
        let head: ShelfHead

        /// A shelf with all shelves below it.
        init(_ upper: LocatedHead) {
            key = .descendants(of: upper.location)
            head = upper.head
        }

        /// All shelves of a store.
        init(_ store: ShelfRow.StoreRead) {
            key = .allShelves(storeID: store.id)
            head = ShelfHead(
                allShelvesOf: store.store,
                version: store.version,
                attributeRevision: store.attributeRevision,
                synonymRevision: store.synonymRevision
            )
        }
    }

    /// A shelf of a union.
    struct Member: Sendable {
        let location: ShelfLocation
        let version: Int64
        let productCount: Int
    }

    /// The shelves of a union, with the version of their store, from one snapshot.
    struct Members: Sendable {
        private(set) var storeVersion: Int64 = 0
        private(set) var shelves: [Member] = []
        /// Identifies the shelves and their versions.
        private(set) var digest = ""

        init() {}

        /// Reads the rows of `query`.
        init(_ rows: borrowing PostgresRows, of storeID: Int32) throws {
            var hash = SHA256()
            try rows.forEach { row in
                storeVersion = try row.int8(3)
                guard let shelfID = try row.int4OrNil(0) else { return }
                let location = ShelfLocation(storeID: storeID, shelfID: shelfID)
                let (version, count) = (try row.int8(1), Int(try row.int4(2)))
                shelves.append(Member(location: location, version: version, productCount: count))
                hash.update(data: Array("\(location.shelfID) \(version),".utf8))
            }
            digest = hash.finalize().map { String($0, radix: 16) }.joined(separator: ".")
        }

        /// - Parameters:
        ///   - id: the id of the store.
        ///   - shelf: the upper shelf; nil for all shelves of the store.
        static func query(_ id: Int32, _ shelf: CatalogKey?) -> PostgresQuery {
            guard let shelf else { return PostgresQuery(ShelfStatements.allOfStore, [.int4(id)]) }
            return PostgresQuery(ShelfStatements.withDescendants, [.int4(id), .text(shelf.text)])
        }

        /// Whether they are from the same state as the head of a union.
        func agree(with keyed: KeyedHead) -> Bool {
            guard storeVersion == keyed.head.storeVersion else { return false }
            guard case .descendants(of: let upper) = keyed.key else { return true }
            return shelves.contains { $0.location == upper && $0.version == keyed.head.state.version }
        }
    }

    /// A union at the versions of its shelves.
    final class LoadedUnion: Sendable {
        let union: ShelfUnion
        let members: Members
        /// The products. The version is a number of the union's own, because its shelves have several.
        let shelf: ShelfSnapshot
        fileprivate let start: ContinuousClock.Instant

        fileprivate init(
            _ union: ShelfUnion,
            _ members: Members,
            _ shelf: ShelfSnapshot,
            since start: ContinuousClock.Instant
        ) {
            (self.union, self.members, self.shelf, self.start) = (union, members, shelf, start)
        }

        /// The size in memory, in bytes.
        var size: Int { shelf.size + 64 * members.shelves.count }

        /// Whether it has a shelf at a later version.
        fileprivate func isAhead(of other: Members) -> Bool {
            let versions = Dictionary(other.shelves.map { ($0.location, $0.version) }) { first, _ in first }
            return members.shelves.contains { member in versions[member.location].map { member.version > $0 } ?? false }
        }
    }

    private let memory: ShelfMemory
    private let loads = SharedWork<ShelfMemory.LoadKey, LoadedUnion?>()
    private let count = Atomic<Int64>(0)

    init(_ memory: ShelfMemory) { self.memory = memory }

    /// Returns the union of shelves at their versions.
    ///
    /// - Returns: nil if a shelf has another version by now.
    /// - Throws: `ReplicaProblem` if the memory is ahead of a replica, so that the primary answers.
    /// - Complexity: O(*n* log *k*) for *n* products on *k* shelves, unless it is in memory.
    func union(_ keyed: KeyedHead, _ members: Members, _ source: ReadSource) async throws -> LoadedUnion? {
        if let known = try kept(keyed.key, members, source.origin) { return known }
        let key = ShelfMemory.LoadKey(table: .union(keyed.key), origin: source.origin)
        let found = try await loads.value(key) {
            let start = ContinuousClock.now
            var tables: [ShelfTable] = []
            for member in members.shelves {
                guard
                    let shelf = try await self.memory.shelf(
                        member.location,
                        at: member.version,
                        products: member.productCount,
                        source
                    )
                else { return nil }
                tables.append(shelf.table)
            }
            return self.merge(tables, keyed, members, since: start)
        }
        return found?.members.digest == members.digest ? found : nil
    }

    /// The same in a transaction that only reads.
    func union(
        _ keyed: KeyedHead,
        _ members: Members,
        _ load: ShelfLoad,
        _ connection: isolated PostgresConnection
    ) throws -> LoadedUnion? {
        if let known = try kept(keyed.key, members, load.origin) { return known }
        let start = ContinuousClock.now
        var tables: [ShelfTable] = []
        for member in members.shelves {
            guard let shelf = try memory.load(member.location, at: member.version, load, connection) else { return nil }
            tables.append(shelf.table)
        }
        return merge(tables, keyed, members, since: start)
    }

    private func kept(_ key: Key, _ members: Members, _ origin: ReadSource.Origin) throws -> LoadedUnion? {
        guard let known = memory.caches.unions[key] else { return nil }
        guard known.members.digest == members.digest else {
            try origin.requireCommits(if: known.isAhead(of: members))
            return nil
        }
        // A page of all shelves of a store does not show which of them are popular.
        if case .descendants = key {
            for member in members.shelves { memory.caches.shelves[member.location]?.noteUse() }
        }
        return known
    }

    /// Makes a union, and keeps it unless a later one is kept.
    private func merge(
        _ tables: [ShelfTable],
        _ keyed: KeyedHead,
        _ members: Members,
        since start: ContinuousClock.Instant
    ) -> LoadedUnion {
        let (table, state) = (ShelfTable.union(tables), keyed.head.state)
        let union = ShelfUnion(
            digest: members.digest,
            dimension: state.shelf.dimension ?? table.mostFrequentDimension ?? state.comparisonDimension
        )
        let shelf = ShelfSnapshot(version: count.add(1, ordering: .relaxed).newValue, table: table)
        let found = LoadedUnion(union, members, shelf, since: start)
        if let known = memory.caches.unions[keyed.key], known.start > start { return found }
        memory.caches.insert(found, for: keyed.key)
        return found
    }
}
