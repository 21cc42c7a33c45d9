import Catalog
import Ordering
import Testing

@testable import CatalogPostgres

/// The decisions of re-sorts, without a database.
@Suite(.timeLimit(.minutes(15))) struct ResortDecisionTests {
    private static let day: Int64 = 86_400_000_000

    // MARK: - Groups

    /// Returns the groups of shelves with the given numbers of products; their ids count from 1.
    private static func groups(_ products: [Int], size: Int) -> [[Int32]] {
        let queue = ResortQueue(products.enumerated().map { (Int32($0 + 1), $1) }, groupSize: size)
        var groups: [[Int32]] = []
        while let group = queue.take() { groups.append(group) }
        return groups
    }

    @Test("Shelves are grouped in order, until a group would have too many products")
    func groups() {
        #expect(Self.groups([], size: 10) == [])
        #expect(Self.groups([3, 3, 4, 1], size: 10) == [[1, 2, 3], [4]])
        #expect(Self.groups([3, 3, 5], size: 10) == [[1, 2], [3]])
        // A shelf with more products is a group of its own.
        #expect(Self.groups([50, 1, 1, 50, 1], size: 10) == [[1], [2, 3], [4], [5]])
        #expect(Self.groups([0, 0, 0], size: 0) == [[1, 2, 3]])
    }

    @Test("A group has at most 200 shelves")
    func groupLimit() {
        #expect(Self.groups(Array(repeating: 0, count: 401), size: 1000).map(\.count) == [200, 200, 1])
    }

    @Test("A queue counts the finished shelves of all jobs")
    func progress() {
        let queue = ResortQueue([(1, 1), (2, 1), (3, 1)], groupSize: 1)
        #expect(queue.count == 3)
        #expect(queue.countShelves(2) == 2)
        #expect(queue.countShelves(1) == 3)
        let counter = ResortCounter()
        var done = ResortSummary()
        (done.products, done.moved) = (2, 5)
        for _ in 0..<2 { counter.add(done) }
        #expect((counter.total.products, counter.total.moved) == (4, 10))
    }

    // MARK: - Due shelves

    @Test("The due shelves are those of the counted products, or given ones without known products")
    func dueShelves() {
        let rows = [DueProducts.Row(firstSKU: SKU("a")!, mark: 7, lastSKU: SKU("c")!, size: 3)]
        let placements = [("a", Int32(2)), ("b", 1), ("c", 2)].map {
            DueShelves.Placement(product: $0.0, shelf: $0.1)
        }
        let known = DueShelves(placements, rows)
        #expect(known.ids == [1, 2])
        #expect(known.products == [2: ["a", "c"], 1: ["b"]])
        #expect(known.rows.map(\.mark) == [7])
        let unknown = DueShelves(ids: [4], rows)
        #expect(unknown.ids == [4] && unknown.products == nil && unknown.rows.count == 1)
        let none = DueShelves([DueShelves.Placement](), [])
        #expect(none.ids.isEmpty && none.products?.isEmpty == true)
    }

    // MARK: - Shelves

    private static func shelf(
        resortedVersion: Int64?,
        version: Int64,
        modifiedAt: Int64 = 0,
        source: Sort? = nil
    ) -> ResortedShelf {
        let key = CatalogKey("s")!
        let state = ShelfState(
            shelf: Shelf(key: key, title: "S", positionSource: source),
            productCount: 3,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: modifiedAt),
            version: version,
            orderVersion: 1
        )
        let head = ShelfHead(
            store: Store(key: key, title: "S", currency: Currency("EUR")!),
            storeVersion: 1,
            state: state
        )
        let location = ShelfLocation(storeID: 5, shelfID: 6)
        return ResortedShelf(located: LocatedHead(head: head, location: location), resortedVersion: resortedVersion)
    }

    @Test("A shelf may have other products if it changed since the day before its last re-sort")
    func otherProducts() {
        let version = 100 * Self.day
        func mayHaveOthers(_ resorted: Int64?, _ current: Int64, modifiedAt: Int64) -> Bool {
            Self.shelf(resortedVersion: resorted, version: current, modifiedAt: modifiedAt).mayHaveOtherProducts
        }
        #expect(mayHaveOthers(nil, version, modifiedAt: 0))
        #expect(!mayHaveOthers(version, version, modifiedAt: 200 * Self.day))
        #expect(mayHaveOthers(version, version + 1, modifiedAt: 99 * Self.day + 1))
        #expect(!mayHaveOthers(version, version + 1, modifiedAt: 99 * Self.day))
        #expect(Self.shelf(resortedVersion: 1, version: 1).id == 6)
    }

    // MARK: - Plans

    private static let source = Sort(.name, .ascending)!

    private static func plan(source: Sort? = nil, resortedVersion: Int64? = 3) -> ShelfPlan {
        ShelfPlan(shelf: shelf(resortedVersion: resortedVersion, version: 3, source: source))
    }

    @Test("A plan without a difference changes nothing, and each difference changes the shelf")
    func changes() {
        let same = Self.plan()
        #expect(!same.isChanged && !same.isOutdated && !same.isReordered && !same.needsCompaction)
        let changes: [(inout ShelfPlan) -> Void] = [
            { $0.rescored = 1 }, { $0.hasOtherDimension = true }, { $0.moved = 1 },
        ]
        for change in changes {
            var plan = Self.plan()
            change(&plan)
            #expect(plan.isChanged && plan.isOutdated && !plan.isReordered)
        }
        // Readers do not see the most common dimension of a shelf that declares one.
        var settled = Self.plan()
        settled.settledDimension = .mass
        #expect(!settled.isChanged && settled.isOutdated)
        for version in [nil, 2] as [Int64?] {
            let plan = Self.plan(resortedVersion: version)
            #expect(!plan.isChanged && plan.isOutdated)
        }
        var reordered = Self.plan(source: Self.source)
        #expect(!reordered.isReordered)
        reordered.moved = 1
        #expect(reordered.isReordered)
    }

    /// Returns a manual order of products.
    private static func list(_ ids: [String]) -> PositionList {
        let keys = PathKey.appending(ids.count, after: nil)
        return PositionList(zip(ids, keys).map { .init(id: $0, key: $1, isRemoved: false) })
    }

    @Test("Only the products that must move get new keys")
    func arrangement() {
        let ids = ["a", "b", "c", "d", "e", "f"]
        var plan = Self.plan(source: Self.source)
        plan.arrange(Self.list(ids), as: ["f", "a", "b", "c", "d", "e"])
        #expect(plan.keys.map(\.id) == ["f"])
        #expect(plan.moved == 1 && plan.staying == nil && plan.isReordered)
        var same = Self.plan(source: Self.source)
        same.arrange(Self.list(ids), as: ids)
        #expect(same.keys.isEmpty && same.moved == 0 && same.staying == nil)
    }

    @Test("If most products get new keys, the plan has those that stay")
    func staying() {
        var plan = Self.plan(source: Self.source)
        plan.arrange(Self.list(["a", "b", "c", "d"]), as: ["d", "c", "b", "a"])
        #expect(plan.moved == 3)
        #expect(Set(plan.keys.map(\.id)).union(plan.staying ?? []) == ["a", "b", "c", "d"])
        #expect(plan.staying?.count == 1)
        // With exactly half of them, they are not listed.
        var half = Self.plan(source: Self.source)
        half.arrange(Self.list(["a", "b", "c", "d"]), as: ["c", "d", "a", "b"])
        #expect(half.moved == 2 && half.staying == nil)
    }

    @Test("Long keys are compacted after the re-sort")
    func compaction() {
        var plan = Self.plan(source: Self.source)
        plan.keys = [("a", PathKey(Array(repeating: 1, count: 3)))]
        #expect(!plan.needsCompaction)
        plan.keys.append(("b", PathKey(Array(repeating: 1_000_000, count: 64))))
        #expect(plan.keys[1].key.isLong)
        #expect(plan.needsCompaction)
    }
}
