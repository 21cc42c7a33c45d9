/// An invalid path key, or a gap that has no room for another key.
package enum PathKeyError: Error, Equatable, Sendable {
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
