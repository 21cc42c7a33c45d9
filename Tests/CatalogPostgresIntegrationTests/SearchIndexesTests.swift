import Catalog
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
        caches.shelves.insert(KeptShelf(shelf, isWhole: true, isUsed: true), for: Self.location)
    }

    private static func count(_ index: SearchIndex, _ text: String) throws -> Int {
        index.matches(Search(try SearchQuery(text), SearchRules(inflection: index.inflection)), within: .exact).rows
            .count
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
        #expect(caches.indexes.use.count == 1 && caches.indexes.use.size > index.size)
        #expect(caches.use.indexes.size == caches.indexes.use.size)
        // Its memory is taken from that for shelves.
        #expect(caches.shelves.limit == ShelfMemoryShares(limit: 1 << 22).shelvesLimit - caches.indexes.use.size)
    }

    @Test("Versions with the same searched values share an index, and others have another one")
    func sharing() async throws {
        let indexes = SearchIndexes(caches)
        keep(Self.shelf(1, ["Milk"]))
        _ = try await indexes.index(of: Self.shelf(1, ["Milk"]), at: Self.key, Self.none)
        let repriced = Self.shelf(2, ["Milk"], price: 2)
        #expect(indexes.known(repriced, at: Self.key, Self.none) == nil)
        #expect(try Self.count(await indexes.index(of: repriced, at: Self.key, Self.none), "milk") == 1)
        #expect(caches.indexes[Self.key]?.version == 2 && caches.indexes.use.count == 1)
        let renamed = Self.shelf(3, ["Milk", "Butter"])
        let index = try await indexes.index(of: renamed, at: Self.key, Self.none)
        #expect(try Self.count(index, "butter") == 1)
        // An earlier version that a slow request still reads gets its own index, which does not replace the later one.
        let earlier = try await indexes.index(of: repriced, at: Self.key, Self.none)
        #expect(try Self.count(earlier, "butter") == 0)
        #expect(caches.indexes[Self.key]?.version == 3)
    }

    @Test("Another language has another index")
    func languages() async throws {
        let indexes = SearchIndexes(caches)
        let shelf = Self.shelf(1, ["Apples"])
        keep(shelf)
        _ = try await indexes.index(of: shelf, at: Self.key, Self.none)
        #expect(indexes.known(shelf, at: Self.key, Self.english) == nil)
        let index = try await indexes.index(of: shelf, at: Self.key, Self.english)
        #expect(index.inflection == Self.english)
        #expect(indexes.known(shelf, at: Self.key, Self.english) != nil)
        #expect(indexes.known(shelf, at: Self.key, Self.none) == nil)
    }

    @Test("The index of a table that has left the memory leaves it, too")
    func orphans() async throws {
        let indexes = SearchIndexes(caches)
        let shelf = Self.shelf(1, ["Milk"])
        keep(shelf)
        _ = try await indexes.index(of: shelf, at: Self.key, Self.none)
        #expect(caches.use.indexes.count == 1)
        caches.shelves.remove(Self.location)
        #expect(caches.use.indexes.count == 0)
    }

    // MARK: - Rules

    private static func state(_ language: String, store: Int64 = 1, revision: Int64 = 1) -> SearchIndexes.RulesState {
        SearchIndexes.RulesState(language: language, storeVersion: store, revision: revision)
    }

    @Test("Rules are read again after each change of the store or of the deployment's synonyms, and only then")
    func rules() async throws {
        let indexes = SearchIndexes(caches)
        let reads = Mutex(0)
        let pop = try Synonyms(groups: [["pop", "soda"]], oneWay: [])
        func rules(_ state: SearchIndexes.RulesState, _ synonyms: Synonyms) async throws -> SearchRules {
            try await indexes.rules(of: 1, at: state) {
                reads.withLock { $0 += 1 }
                return synonyms
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
}
