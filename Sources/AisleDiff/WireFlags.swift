/// The parts present in a wire format message.
struct WireFlags: OptionSet {
    let rawValue: UInt64
    static let newCount = WireFlags(rawValue: 1)
    static let deletes = WireFlags(rawValue: 2)
    static let inserts = WireFlags(rawValue: 4)
    static let singles = WireFlags(rawValue: 8)
    static let runs = WireFlags(rawValue: 16)
    static let order = WireFlags(rawValue: 32)
    static let versions = WireFlags(rawValue: 64)
    static let changed = WireFlags(rawValue: 128)
    static let all = WireFlags(rawValue: 255)
}
