import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(1))) struct SlotsTests {
    @Test("As many enter as there are slots; one that leaves makes room")
    func entersAndLeaves() {
        let slots = Slots(2)
        #expect(slots.enter())
        #expect(slots.enter())
        #expect(!slots.enter())
        slots.leave()
        #expect(slots.enter())
        #expect(!slots.enter())
    }
}
