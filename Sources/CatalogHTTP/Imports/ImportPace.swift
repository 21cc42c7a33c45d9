internal import Catalog

/// The minimum transfer rate of an import's body.
package struct ImportPace: Sendable {
    /// The minimum average rate, in bytes per second spent waiting for the client.
    package var minimumRate = 16 << 10
    /// The grace period before the rate applies; also the maximum wait for one chunk.
    package var gracePeriod: Duration = .seconds(10)
}
