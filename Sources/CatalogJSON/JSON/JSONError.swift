internal import Catalog

/// Why bytes are no JSON that is accepted.
package struct JSONError: Error, Sendable, Equatable {
    package let detail: String
    /// The byte at which it was noticed, from 0.
    package let offset: Int
}
