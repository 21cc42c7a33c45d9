/// What the parameters of an assembled text stand for, each once.
struct StatementSlots<Slot: Hashable> {
    private(set) var slots: [Slot] = []

    /// The name of the parameter that stands for something.
    mutating func bind(_ slot: Slot) -> String {
        if let index = slots.firstIndex(of: slot) { return "$\(index + 1)" }
        slots.append(slot)
        return "$\(slots.count)"
    }
}
