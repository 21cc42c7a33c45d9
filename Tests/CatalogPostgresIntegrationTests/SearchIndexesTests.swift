import Catalog
import JSON
import Shelves
import Synchronization
import Testing

@testable import CatalogPostgres

/// The indexes of tables in memory, and the rules of stores, without a database.
@Suite(.timeLimit(.minutes(15))) struct SearchIndexesTests {
    private static let location = ShelfLocation(storeID: 1, shelfID: 1)
    private static let key = ShelfCaches.TableKey.shelf(location)
    private static let none = Inflection()
    private static let english = Inflection([.english])

    private let caches = ShelfCaches(ShelfMemoryShares(limit: 1 << 22))

    private static func shelf(_ version: Int64, _ names: [String], price: Int64 = 1) -> ShelfSnapshot {
        let rows = names.enumerated().map { number, name in
            let product = Product(sku: SKU("p\(number)")!, name: name, priceMinor: price)
            return TableRow(product, position: [1]) { Array($0.utf8) }
        }
        return ShelfSnapshot(version: version, table: ShelfTable(rows))
    }

    /// Keeps a shelf in memory, because only tables in memory have an index.
    private func keep(_ shelf: ShelfSnapshot) {
        caches.insert(KeptShelf(shelf, isWhole: true, isUsed: true), for: Self.location)
    }

    private static func count(_ found: SearchIndexes.NumberedIndex, _ text: String) throws -> Int {
        let search = Search(try SearchQuery(text), SearchRules(inflection: found.index.inflection))
        return found.index.matches(search, within: .exact).rows.count
    }

    @Test("An index is built when it is needed first, and then known")
    func firstUse() async throws {
        let indexes = SearchIndexes(caches)
        let shelf = Self.shelf(1, ["Milk", "Oat milk"])
        keep(shelf)
        #expect(indexes.known(shelf, at: Self.key, Self.none) == nil && caches.indexes.use.count == 0)
        let index = try await indexes.index(of: shelf, at: Self.key, Self.none)
        #expect(try Self.count(index, "milk") == 2)
        #expect(indexes.known(shelf, at: Self.key, Self.none) != nil)
        #expect(caches.indexes.use.count == 1 && caches.indexes.use.size > index.index.size)
        #expect(caches.use.indexes.size == caches.indexes.use.size)
        // Its memory is taken from that for shelves.
        #expect(caches.shelves.limit == ShelfMemoryShares(limit: 1 << 22).shelvesLimit - caches.indexes.use.size)
    }

    @Test("Versions with the same searched values share an index, and others have another one")
    func sharing() async throws {
        let indexes = SearchIndexes(caches)
        keep(Self.shelf(1, ["Milk"]))
        let builds = Mutex(0)
        @Sendable func count(_ products: Int) { builds.withLock { $0 += 1 } }
        _ = try await indexes.index(of: Self.shelf(1, ["Milk"]), at: Self.key, Self.none, willBuild: count)
        let repriced = Self.shelf(2, ["Milk"], price: 2)
        keep(repriced)
        #expect(indexes.known(repriced, at: Self.key, Self.none) == nil)
        let shared = try await indexes.index(of: repriced, at: Self.key, Self.none, willBuild: count)
        #expect(try Self.count(shared, "milk") == 1)
        #expect(builds.withLock { $0 } == 1, "no searched value differs")
        let first = try await SearchIndexes(caches).index(of: repriced, at: Self.key, Self.none)
        #expect(first.number == shared.number, "versions with one index have the same number")
        #expect(caches.indexes[Self.key]?.version == 2 && caches.indexes.use.count == 1)
        let renamed = Self.shelf(3, ["Milk", "Butter"])
        keep(renamed)
        let index = try await indexes.index(of: renamed, at: Self.key, Self.none)
        #expect(try Self.count(index, "butter") == 1)
        // An earlier version that a slow request still reads gets its own index, which does not replace the later one.
        let earlier = try await indexes.index(of: repriced, at: Self.key, Self.none)
        #expect(try Self.count(earlier, "butter") == 0)
        #expect(caches.indexes[Self.key]?.version == 3)
    }

    @Test("The index of the table in memory replaces that of a later version that is not in memory")
    func versionsThatAreNotKept() async throws {
        let indexes = SearchIndexes(caches)
        let (kept, other) = (Self.shelf(3, ["Milk"]), Self.shelf(5, ["Butter"]))
        keep(kept)
        // Such as a union that had its number before a later one was kept.
        _ = try await indexes.index(of: other, at: Self.key, Self.none)
        #expect(indexes.known(other, at: Self.key, Self.none) != nil)
        #expect(caches.indexes.use.size > other.table.size, "its table is in memory only for the index")
        _ = try await indexes.index(of: kept, at: Self.key, Self.none)
        #expect(indexes.known(kept, at: Self.key, Self.none) != nil)
        #expect(caches.indexes.peek(Self.key)?.ownsTable == false)
        _ = try await indexes.index(of: other, at: Self.key, Self.none)
        #expect(indexes.known(kept, at: Self.key, Self.none) != nil)
    }

    @Test("After a failover that lost commits, the index of the lower version replaces the other one")
    func lowerVersion() async throws {
        let indexes = SearchIndexes(caches)
        let (lost, current) = (Self.shelf(9, ["Milk", "Butter"]), Self.shelf(4, ["Milk"]))
        keep(lost)
        _ = try await indexes.index(of: lost, at: Self.key, Self.none)
        let size = caches.indexes.use.size
        keep(current)
        #expect(caches.indexes.use.size == size + lost.table.size, "the lost version's table is counted")
        #expect(try Self.count(await indexes.index(of: current, at: Self.key, Self.none), "butter") == 0)
        #expect(indexes.known(current, at: Self.key, Self.none) != nil)
        #expect(caches.indexes.peek(Self.key)?.version == 4 && caches.indexes.use.size < size + lost.table.size)
    }

    /// The numbers of products of the indexes that were built.
    private final class BuiltIndexes: Sendable {
        let counts = Mutex([Int]())
    }

    @Test("Concurrent requests build an index once, and do not prevent those of other tables")
    func concurrency() async throws {
        let indexes = SearchIndexes(caches)
        let other = ShelfLocation(storeID: 1, shelfID: 2)
        let (milk, butter) = (Self.shelf(1, ["Milk"]), Self.shelf(1, ["Butter", "Milk butter"]))
        keep(milk)
        caches.insert(KeptShelf(butter, isWhole: true, isUsed: true), for: other)
        let built = BuiltIndexes()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let (shelf, key) = number % 2 == 0 ? (milk, Self.key) : (butter, .shelf(other))
                    let index = try await indexes.index(of: shelf, at: key, Self.none) { count in
                        built.counts.withLock { $0.append(count) }
                    }
                    return try Self.count(index, "butter")
                }
            }
            var found: [Int] = []
            for try await count in group { found.append(count) }
            #expect(found.sorted() == Array(repeating: 0, count: 20) + Array(repeating: 2, count: 20))
        }
        #expect(built.counts.withLock { $0.sorted() } == [1, 2])
    }

    @Test("Another language has another index")
    func languages() async throws {
        let indexes = SearchIndexes(caches)
        let shelf = Self.shelf(1, ["Apples"])
        keep(shelf)
        _ = try await indexes.index(of: shelf, at: Self.key, Self.none)
        #expect(indexes.known(shelf, at: Self.key, Self.english) == nil)
        let index = try await indexes.index(of: shelf, at: Self.key, Self.english)
        #expect(index.index.inflection == Self.english)
        #expect(indexes.known(shelf, at: Self.key, Self.english) != nil)
        #expect(indexes.known(shelf, at: Self.key, Self.none) == nil)
    }

    /// Small tables are evicted one after another. A table above the limit is evicted by the next such table.
    @Test("The index of an evicted table leaves the memory at once", arguments: [500, 20_000])
    func orphans(_ count: Int) async throws {
        let indexes = SearchIndexes(caches)
        let shelf = Self.shelf(1, (0..<count).map { "Milk \($0)" })
        keep(shelf)
        _ = try await indexes.index(of: shelf, at: Self.key, Self.none)
        #expect(caches.indexes.use.count == 1)
        var number: Int32 = 1
        while caches.shelves.peek(Self.location) != nil, number < 1000 {
            number += 1
            let location = ShelfLocation(storeID: 1, shelfID: number)
            caches.insert(KeptShelf(shelf, isWhole: true, isUsed: true), for: location)
        }
        #expect(caches.shelves.peek(Self.location) == nil)
        #expect(caches.indexes.use.count == 0)
    }

    // MARK: - Rules

    private static func state(_ locale: String, store: Int64 = 1, revision: Int64 = 1) -> SearchIndexes.RulesState {
        SearchIndexes.RulesState(locale: locale, storeVersion: store, revision: revision)
    }

    @Test("Rules are read again after each change of the store or of the deployment's synonyms, and only then")
    func rules() async throws {
        let indexes = SearchIndexes(caches)
        let reads = Mutex(0)
        let pop = try Synonyms(groups: [["pop", "soda"]], oneWay: [])
        func rules(_ state: SearchIndexes.RulesState, _ synonyms: Synonyms) async throws -> SearchRules {
            try await indexes.rules(of: 1, at: state) {
                reads.withLock { $0 += 1 }
                return Self.synonyms(at: state, ofStore: synonyms)
            }
        }
        let first = try await rules(Self.state("en-GB"), pop)
        #expect(first.synonyms == pop && first.inflection == Self.english)
        #expect(try await rules(Self.state("en-GB"), .none).synonyms == pop)
        #expect(reads.withLock { $0 } == 1)
        #expect(indexes.knownRules(of: 1, at: Self.state("en-GB")) != nil)
        #expect(indexes.knownRules(of: 2, at: Self.state("en-GB")) == nil)
        for state in [Self.state("en-GB", store: 2), Self.state("en-GB", revision: 2)] {
            #expect(indexes.knownRules(of: 1, at: state) == nil)
            #expect(try await rules(state, .none).synonyms == .none)
        }
        #expect(reads.withLock { $0 } == 3)
        #expect(try await rules(Self.state("hr", store: 3), pop).inflection == Inflection([.croatian]))
        #expect(try await rules(Self.state("fi", store: 4), pop).inflection == Self.none)
        #expect(caches.rules.use.count == 1 && caches.use.indexes.size == caches.rules.use.size)
    }

    /// Returns synonyms that were read at a state.
    private static func synonyms(
        at state: SearchIndexes.RulesState,
        ofDeployment: Synonyms? = nil,
        ofStore: Synonyms? = nil
    ) -> StoredSynonyms {
        StoredSynonyms(
            storeVersion: state.storeVersion,
            revision: state.revision,
            ofDeployment: ofDeployment?.document.text,
            ofStore: ofStore?.document.text
        )
    }

    @Test("Synonyms of another state than the wanted one are used, but not kept")
    func rulesOfAnotherState() async throws {
        let indexes = SearchIndexes(caches)
        let (old, new) = (
            try Synonyms(groups: [["pop", "soda"]], oneWay: []), try Synonyms(groups: [["bio", "eko"]], oneWay: [])
        )
        let wanted = Self.state("en", store: 2, revision: 2)
        for state in [
            Self.state("en", store: 2, revision: 1), Self.state("en", store: 1, revision: 2),
            Self.state("en", store: 3, revision: 2),
        ] {
            let rules = try await indexes.rules(of: 1, at: wanted) { Self.synonyms(at: state, ofStore: old) }
            #expect(rules.synonyms == old)
            #expect(indexes.knownRules(of: 1, at: wanted) == nil && indexes.knownRules(of: 1, at: state) == nil)
        }
        #expect(try await indexes.rules(of: 1, at: wanted) { Self.synonyms(at: wanted, ofStore: new) }.synonyms == new)
        #expect(indexes.knownRules(of: 1, at: wanted)?.synonyms == new)
    }

    @Test("Stores with one language and no synonyms of their own share the deployment's rules")
    func sharedRules() async throws {
        let indexes = SearchIndexes(caches)
        let (pop, bio) = (
            try Synonyms(groups: [["pop", "soda"]], oneWay: []), try Synonyms(groups: [["bio", "eko"]], oneWay: [])
        )
        let state = Self.state("en-GB")
        for store in Int32(1)...3 {
            let rules = try await indexes.rules(of: store, at: state) { Self.synonyms(at: state, ofDeployment: pop) }
            #expect(rules.synonyms == pop)
        }
        // Each store has a small entry.
        let size = SearchRules(inflection: Self.english, synonyms: pop).size
        #expect(caches.rules.use.count == 4 && caches.rules.use.size < 2 * size)
        _ = try await indexes.rules(of: 4, at: state) { Self.synonyms(at: state, ofDeployment: pop, ofStore: bio) }
        #expect(indexes.knownRules(of: 4, at: state)?.synonyms == pop.adding(bio))
        #expect(indexes.knownRules(of: 3, at: state)?.synonyms == pop)
        let croatian = Self.state("hr")
        _ = try await indexes.rules(of: 5, at: croatian) { Self.synonyms(at: croatian, ofDeployment: pop) }
        #expect(indexes.knownRules(of: 5, at: croatian)?.inflection == Inflection([.croatian]))
        #expect(indexes.knownRules(of: 3, at: state)?.inflection == Self.english)
    }

    @Test("A store does not get the rules of an earlier or later revision from another store")
    func revisionsOfSharedRules() async throws {
        let indexes = SearchIndexes(caches)
        let (pop, bio) = (
            try Synonyms(groups: [["pop", "soda"]], oneWay: []), try Synonyms(groups: [["bio", "eko"]], oneWay: [])
        )
        let (first, second) = (Self.state("en", revision: 1), Self.state("en", revision: 2))
        _ = try await indexes.rules(of: 1, at: second) { Self.synonyms(at: second, ofDeployment: bio) }
        // A slow request of another store.
        _ = try await indexes.rules(of: 2, at: first) { Self.synonyms(at: first, ofDeployment: pop) }
        #expect(indexes.knownRules(of: 1, at: second) == nil)
        let rules = try await indexes.rules(of: 1, at: second) { Self.synonyms(at: second, ofDeployment: bio) }
        #expect(rules.synonyms == bio && indexes.knownRules(of: 2, at: first) == nil)
    }
}
