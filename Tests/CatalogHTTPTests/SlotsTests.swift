import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(1))) struct SlotsTests {
    @Test("The number of entries is limited, and leaving frees a slot")
    func entersAndLeaves() {
        let slots = Slots(2)
        #expect(slots.tryAcquire())
        #expect(slots.tryAcquire())
        #expect(!slots.tryAcquire())
        slots.release()
        #expect(slots.tryAcquire())
        #expect(!slots.tryAcquire())
    }
}
