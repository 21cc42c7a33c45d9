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

    @Test("A replaced entry is kept once, and can be removed")
    func replacedEntriesAreKeptOnce() {
        var recent = RecentDictionary<Int, Int>(limit: 4) { _, _ in 1 }
        for key in 0..<3 { recent[key] = key }
        recent[0] = 10
        #expect(recent[0] == 10)
        #expect(recent.count == 3)
        recent[0] = nil
        #expect(recent[0] == nil)
        #expect(recent.entries.map(\.key).sorted() == [1, 2])
    }

    @Test("An entry larger than half of the limit is not kept, and removes the earlier one of its key")
    func largeEntriesAreNotKept() {
        var recent = RecentDictionary<Int, Int>(limit: 9) { _, size in size }
        recent[1] = 2
        recent[0] = 4
        recent[0] = 5
        #expect(recent[0] == nil)
        #expect(recent.totalSize == 2)
    }

    /// The algorithm as its authors write it: a list with the newest entry first.
    private struct Sieve {
        var entries: [(key: Int, value: Int, size: Int, isUsed: Bool)] = []
        var hand: Int?
        var evictions = 0
        let limit: Int

        var total: Int { entries.reduce(0) { $0 + $1.size } }

        mutating func value(_ key: Int) -> Int? {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
            entries[index].isUsed = true
            return entries[index].value
        }

        mutating func remove(_ key: Int) -> Bool {
            guard let index = entries.firstIndex(where: { $0.key == key }) else { return false }
            entries.remove(at: index)
            if let next = hand, next >= index { hand = next == 0 ? nil : next - 1 }
            return true
        }

        mutating func set(_ key: Int, _ value: Int, size: Int) {
            let isUsed = remove(key)
            guard size <= limit / 2 else { return }
            while total + size > limit {
                var index = hand ?? entries.count - 1
                while entries[index].isUsed {
                    entries[index].isUsed = false
                    index = index == 0 ? entries.count - 1 : index - 1
                }
                hand = index
                _ = remove(entries[index].key)
                evictions += 1
            }
            entries.insert((key, value, size, isUsed), at: 0)
            if let next = hand { hand = next + 1 }
        }
    }

    @Test("It has the entries of SIEVE, never more than its limit", arguments: [2, 3, 8, 31, 101])
    func equalsSieve(limit: Int) {
        var random = SeededGenerator(seed: UInt64(limit))
        var recent = RecentDictionary<Int, Int>(limit: limit) { _, value in value % 4 + 1 }
        var sieve = Sieve(limit: limit)
        for step in 0..<4000 {
            let key = Int.random(in: 0..<limit, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: (recent[key], _) = (nil, sieve.remove(key))
            case 1...3:
                recent[key] = step
                sieve.set(key, step, size: step % 4 + 1)
            default: #expect(recent[key] == sieve.value(key))
            }
            #expect(recent.totalSize == sieve.total && recent.totalSize <= limit)
            #expect(recent.count == sieve.entries.count && recent.evictions == sieve.evictions)
            let entries = recent.entries.map { [$0.key, $0.value] }.sorted { $0[0] < $1[0] }
            #expect(entries == sieve.entries.map { [$0.key, $0.value] }.sorted { $0[0] < $1[0] })
        }
    }
}
