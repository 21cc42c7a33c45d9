/// An error in reading or applying a diff.
public enum ShelfDiffError: Error, Hashable, Sendable {
    /// The diff belongs to another list.
    case otherList
    /// The bytes end too early, continue after the end, or contain an invalid number.
    case malformed
    /// The wire format version is not supported.
    case unknownVersion(UInt8)
    /// A list is longer than the reader allows.
    case tooLong(Int)
    /// The parts are inconsistent.
    case flaw(MoveDiff.Flaw)
}
