package import Catalog

/// What there is to write to one who follows.
package enum LiveOutput: Sendable {
    case events([LiveEvent])
    /// Nothing for a while: a sign of life.
    case heartbeat
}
