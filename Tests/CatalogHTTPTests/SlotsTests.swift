import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(15))) struct SlotsTests {
    @Test("Acquiring fails at the limit, and releasing frees a slot")
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
