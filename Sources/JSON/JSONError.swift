/// The reason for rejecting JSON.
package struct JSONError: Error, Sendable, Equatable {
    package let detail: String
    /// The byte offset of the error, from 0.
    package let offset: Int
}
