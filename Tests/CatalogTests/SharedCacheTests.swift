import Catalog
import Testing

@Suite("Shared cache") struct SharedCacheTests {
    @Test("Entries are found, replaced and removed")
    func entriesAreFoundReplacedAndRemoved() {
        let cache = SharedCache<String, Int>(limit: 100, largest: 1) { _, _ in 1 }
        #expect(cache["a"] == nil)
        cache["a"] = 1
        #expect(cache["a"] == 1)
        cache["a"] = 2
        #expect(cache["a"] == 2)
        cache["a"] = nil
        #expect(cache["a"] == nil)
    }

    @Test("It keeps the costs within its limit", arguments: [2, 40, 1000])
    func limitHolds(limit: Int) {
        let cache = SharedCache<Int, Int>(limit: limit, largest: 10) { _, cost in cost }
        for key in 0..<5000 { cache[key] = key % 10 + 1 }
        let kept = (0..<5000).compactMap { cache[$0] }
        #expect(kept.reduce(0, +) <= limit)
        #expect(limit < 40 || !kept.isEmpty)
    }

    @Test("The largest entry is kept, also in a small cache", arguments: [20, 25, 100, 320, 10_000])
    func largestEntryIsKept(limit: Int) {
        let cache = SharedCache<Int, Int>(limit: limit, largest: 10) { _, cost in cost }
        for key in 0..<1000 {
            cache[key] = 10
            #expect(cache[key] == 10)
        }
        cache[-1] = limit
        #expect(cache[-1] == nil)
    }

    @Test("A lower limit evicts entries at once, and a higher one makes room", arguments: [1, 10])
    func limitChanges(largest: Int) {
        let cache = SharedCache<Int, Int>(limit: 320, largest: largest) { _, _ in 1 }
        func fill() -> Int {
            for key in 0..<5000 { cache[key] = key }
            return cache.use.size
        }
        let full = fill()
        cache.limit = 160
        #expect(cache.limit == 160)
        #expect(cache.use.size <= 160)
        #expect(cache.use.size >= min(full, 160) - 16)
        cache.limit = 640
        #expect(fill() > full)
    }

    @Test("Threads that use it at the same time find only the values of their keys")
    func threadsShareIt() async {
        let cache = SharedCache<Int, Int>(limit: 500, largest: 1) { _, _ in 1 }
        let errors = await withTaskGroup(of: Int.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    (0..<20_000).count { step in
                        let key = (step &* 7919 &+ thread) % 1000
                        if step % 3 == 0 { cache[key] = key * 2 }
                        return cache[key].map { $0 != key * 2 } ?? false
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(errors == 0)
    }
}
