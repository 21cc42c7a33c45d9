/// The reason why bytes are not a path key, or why there is no key between two others.
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
