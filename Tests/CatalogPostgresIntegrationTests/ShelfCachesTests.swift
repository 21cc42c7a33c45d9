import Catalog
import Shelves
import Testing

@testable import CatalogPostgres

/// The shelves that stay in memory are chosen without a database.
@Suite struct ShelfCachesTests {
    private static let location = ShelfLocation(storeID: 1, shelfID: 1)
    private static let start = ContinuousClock.now

    /// Returns a shelf without products.
    private static func shelf(_ version: Int64) -> ShelfSnapshot {
        ShelfSnapshot(version: version, table: ShelfTableBuilder(rows: 0).table())
    }

    @Test("A later version replaces a shelf in memory; the same version or an earlier one does not")
    func laterVersionsReplace() {
        let kept = KeptShelf(Self.shelf(5), readAt: Self.start, isWhole: true, isUsed: false)
        for origin in [ReadSource.Origin.primary, .worker, .replica(0)] {
            let load = ShelfLoad(origin: origin, start: Self.start - .seconds(1))
            #expect(kept.isReplaced(by: 6, of: load))
            #expect(!kept.isReplaced(by: 5, of: load))
            #expect(!kept.isReplaced(by: 4, of: load))
        }
    }

    @Test("An earlier version that the primary has afterwards replaces a shelf: its commits are lost")
    func lostCommitsReplace() {
        let kept = KeptShelf(Self.shelf(5), readAt: Self.start, isWhole: true, isUsed: false)
        let later = Self.start + .seconds(1)
        #expect(kept.isReplaced(by: 4, of: ShelfLoad(origin: .primary, start: later)))
        #expect(!kept.isReplaced(by: 5, of: ShelfLoad(origin: .primary, start: later)))
        #expect(!kept.isReplaced(by: 4, of: ShelfLoad(origin: .replica(0), start: later)), "it may lag")
    }

    @Test("Each use of a shelf is taken once")
    func usesAreTakenOnce() {
        let caches = ShelfCaches(ShelfMemoryShares(limit: 1 << 20))
        caches.shelves.insert(KeptShelf(Self.shelf(1), isWhole: true, isUsed: true), for: Self.location)
        #expect(caches.takeUsed() == [Self.location])
        #expect(caches.takeUsed().isEmpty)
        caches.shelves[Self.location]?.noteUse()
        #expect(caches.takeUsed() == [Self.location])
    }

    @Test("A cache of tables keeps one entry that is too large, and counts it apart from its limit")
    func oneLargeEntry() {
        let cache = TableCache<String, Int>(limit: 100, largest: 50) { $0 }
        cache.insert(40, for: "small")
        cache.insert(500, for: "large")
        #expect(cache["small"] == 40)
        #expect(cache["large"] == 500)
        #expect(cache.limitedSize == 40)
        #expect(cache.use.size == 540)
        #expect(cache.use.count == 2)
        #expect(Set(cache.entries.map(\.key)) == ["small", "large"])
        cache.insert(600, for: "other")
        #expect(cache["large"] == nil)
        #expect(cache["other"] == 600)
        cache.insert(700, for: "small")
        #expect(cache["small"] == 700, "a table that grows is the large one")
        #expect(cache.limitedSize == 0)
    }

    /// Returns whether a server that has read a shelf stores an image of it, now or later.
    private static func image(
        after kind: DatabaseObservation.ShelfReadKind,
        changes: Int = 0,
        later: Duration = .zero
    ) -> ImageQueue.Entry? {
        var queue = ImageQueue()
        let found = ShelfReader.ReadShelf(shelf: shelf(1), kind: kind, changeCount: changes)
        queue.noteRead(found, of: location, isDamaged: false, at: start)
        return queue.next(at: start + later)
    }

    @Test(
        "A shelf gets an image if it was read without one or with many changes since, and half an hour after a change"
    )
    func images() {
        #expect(Self.image(after: .whole) != nil)
        #expect(Self.image(after: .image, changes: 4) == nil)
        #expect(Self.image(after: .image, changes: 5) != nil)
        #expect(Self.image(after: .changes) == nil)
        #expect(Self.image(after: .changes, later: ImageQueue.delay) != nil)
    }

    @Test("An entry that is no longer too large takes the place of the large one")
    func shrinkingEntries() {
        let cache = TableCache<String, Int>(limit: 100, largest: 50) { $0 }
        cache.insert(80, for: "a")
        cache.insert(10, for: "a")
        #expect(cache["a"] == 10 && cache.use.count == 1 && cache.entries.count == 1)
        cache.insert(90, for: "b")
        cache.insert(20, for: "a")
        #expect(cache["b"] == 90 && cache.use.count == 2)
    }
}
