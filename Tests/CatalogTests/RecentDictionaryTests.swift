import Catalog
import Ordering
import Testing

@Suite("Recent dictionary") struct RecentDictionaryTests {
    @Test("Entries are found, replaced and removed")
    func entriesAreFoundReplacedAndRemoved() {
        var recent = RecentDictionary<String, Int>(limit: 4) { _, _ in 1 }
        recent["a"] = 1
        #expect(recent["a"] == 1)
        recent["a"] = 2
        #expect(recent["a"] == 2)
        #expect(recent.count == 1)
        recent["a"] = nil
        #expect(recent["a"] == nil)
        #expect(recent.count == 0)
    }

    @Test("A used entry stays, an unused one is evicted")
    func usedEntriesStay() {
        var recent = RecentDictionary<Int, Int>(limit: 8) { _, _ in 1 }
        recent[0] = 0
        recent[1] = 1
        for key in 2..<100 {
            recent[key] = key
            #expect(recent[0] == 0)
        }
        #expect(recent[1] == nil)
    }

    @Test("An entry of the older generation is replaced, not kept twice")
    func olderEntriesAreReplaced() {
        var recent = RecentDictionary<Int, Int>(limit: 4) { _, _ in 1 }
        for key in 0..<3 { recent[key] = key }
        recent[0] = 10
        #expect(recent[0] == 10)
        #expect(recent.count == 3)
        recent[0] = nil
        #expect(recent[0] == nil)
    }

    @Test("It never exceeds its limit, and keeps the last half of it", arguments: [2, 3, 8, 101])
    func limitHolds(limit: Int) {
        var random = SeededGenerator(seed: UInt64(limit))
        var recent = RecentDictionary<Int, Int>(limit: limit) { _, _ in 1 }
        var used: [Int] = []
        for step in 0..<2000 {
            let key = Int.random(in: 0..<3 * limit, using: &random)
            recent[key] = step
            used.removeAll { $0 == key }
            used.append(key)
            #expect(recent.count <= limit)
            let last = used.suffix(limit / 2)
            var copy = recent
            #expect(last.allSatisfy { copy[$0] != nil })
        }
    }
}
