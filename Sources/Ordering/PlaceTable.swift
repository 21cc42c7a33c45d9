/// An open-addressing hash table of positions: 8 bytes per slot, at most three quarters full.
///
/// Repeated elements share a slot, and their positions form a chain, so repeats cost no more than distinct elements.
struct PlaceTable<Element: Equatable>: ~Copyable {
    private struct Slot {
        /// A position; −1 for an empty slot; −2 − position after the element's last position was taken.
        var place: Int32
        /// Hash bits other than those that select the slot.
        var tag: UInt32
    }

    private let elements: ArraySlice<Element>
    private let slots: UnsafeMutablePointer<Slot>
    private let bits: Int
    /// The next position of the same element, −1 for none; only allocated if there are repeats.
    private var next: UnsafeMutablePointer<Int32>?

    init(_ elements: ArraySlice<Element>, hash: (Element) -> UInt64) {
        self.elements = elements
        var bits = 3
        while (1 << bits) * 3 < elements.count * 4 { bits += 1 }
        self.bits = bits
        slots = .allocate(capacity: 1 << bits)
        slots.initialize(repeating: Slot(place: -1, tag: 0), count: 1 << bits)
        // From the back, so that the first of equal elements is the head of its chain.
        var index = elements.count &- 1
        while index >= 0 {
            let element = elements[elements.startIndex &+ index]
            let hashed = hash(element)
            let place = Int32(truncatingIfNeeded: index)
            let slot = self.slot(of: element, hashed)
            if slots[slot].place >= 0 { chain(place, before: slots[slot].place) }
            slots[slot] = Slot(place: place, tag: UInt32(truncatingIfNeeded: hashed))
            index &-= 1
        }
    }

    deinit {
        slots.deallocate()
        next?.deallocate()
    }

    mutating func take(_ element: Element, hash: UInt64) -> Int32 {
        let slot = slot(of: element, hash)
        let place = slots[slot].place
        guard place >= 0 else { return -1 }
        let following = next?[Int(place)] ?? -1
        slots[slot].place = following >= 0 ? following : -2 &- place
        return place
    }

    /// Returns the slot of an element, or the empty slot for it.
    private func slot(of element: Element, _ hash: UInt64) -> Int {
        let mask = 1 &<< bits &- 1
        let tag = UInt32(truncatingIfNeeded: hash)
        var slot = Int(truncatingIfNeeded: hash &>> UInt64(truncatingIfNeeded: 64 &- bits))
        while true {
            let found = slots[slot]
            if found.place == -1 { return slot }
            if found.tag == tag {
                let place = found.place >= 0 ? found.place : -2 &- found.place
                if elements[elements.startIndex &+ Int(place)] == element { return slot }
            }
            slot = (slot &+ 1) & mask
        }
    }

    private mutating func chain(_ place: Int32, before following: Int32) {
        if next == nil {
            next = .allocate(capacity: elements.count)
            next!.initialize(repeating: -1, count: elements.count)
        }
        next![Int(place)] = following
    }
}
