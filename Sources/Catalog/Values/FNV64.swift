/// FNV-1a, 64 bits: a stable, unkeyed hash. Source: draft-eastlake-fnv.
package struct FNV64: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    /// Adds a text; its end is marked, so that "ab" and "c" differ from "a" and "bc".
    package mutating func combine(_ text: String) {
        combine(text.utf8)
        combine(CollectionOfOne(0xFF))
    }

    /// Adds bytes, whose end is not marked.
    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
