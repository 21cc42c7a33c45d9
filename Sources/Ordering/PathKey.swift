/// An ordering key of a manual order: a path of integers whose bytes compare like the path.
///
/// Each part is written as an order-preserving, prefix-free variable-length integer. So comparing the bytes of two keys
/// compares the paths, part by part, with a path before its extensions. There is always room for another key before and
/// after any key and between any two keys, without rewriting existing keys.
///
/// | first byte | values | bytes |
/// | --- | --- | --- |
/// | 40–BF | −64 … 63 | 1 |
/// | C0–CF | 64 … 4159 | 2 |
/// | D0–DF | 4160 … 1052735 | 3 |
/// | E0–EF | 1052736 … 269488191 | 4 |
/// | F0–F7 | from 269488192 | 8 |
/// | 30–3F, 20–2F, 10–1F, 08–0F | the negative mirrors | 2, 3, 4, 8 |
public struct PathKey: Hashable, Sendable, Comparable {
    /// The parts of the path; at least one.
    package let parts: [Int64]

    /// The distance between appended keys: room for 15 keys without a new level.
    package static let step: Int64 = 16
    /// The maximum length of a stored key, in bytes.
    package static let maximumLength = 1024
    /// The length above which keys are worth compacting, in bytes.
    package static let longLength = 64
    /// Whether the key is worth compacting.
    public var isLong: Bool { length > Self.longLength }

    /// - Precondition: at least one part, each in `PathKey.range`.
    package init(_ parts: [Int64]) {
        precondition(
            !parts.isEmpty && parts.allSatisfy(Self.range.contains),
            "a path must have at least one part, all in range"
        )
        self.parts = parts
    }

    /// Returns whether a key is before another one.
    public static func < (a: PathKey, b: PathKey) -> Bool { a.parts.lexicographicallyPrecedes(b.parts) }

    /// Returns `count` keys after `last`, in order, with room for 15 keys between any two; without `last`, the keys of a new
    /// order.
    ///
    /// Near the greatest possible part, which only external data can reach, the keys continue one level below the last key.
    ///
    /// - Precondition: `count` is not negative.
    /// - Complexity: O(count).
    public static func appending(_ count: Int, after last: PathKey?) -> [PathKey] {
        let first = last.map { $0.parts[0] + step } ?? 0
        guard let last, first + Int64(count) * step > range.upperBound else {
            return (0..<Int64(count)).map { PathKey([first + $0 * step]) }
        }
        return (0..<Int64(count)).map { PathKey(last.parts + [$0 * step]) }
    }
}

/// An invalid path key, or a gap that has no room for another key.
public enum PathKeyError: Error, Equatable, Sendable {
    /// The key has no bytes.
    case empty
    /// A part starts with a reserved byte.
    case reservedHead(UInt8)
    /// The bytes end inside a part.
    case truncated
    /// The first key is not before the second.
    case notAscending
    /// A part would be out of range.
    case outOfRange
}
