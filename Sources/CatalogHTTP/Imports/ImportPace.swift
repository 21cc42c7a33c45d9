internal import Catalog

/// How fast the body of an import has to arrive.
package struct ImportPace: Sendable {
    /// The least average rate, in bytes a second of waiting for the client.
    package var leastRate = 16 << 10
    /// How long a client may be waited for before the rate counts, and at most at once.
    package var patience: Duration = .seconds(10)
}
