package import Catalog

/// The output for a subscriber.
package enum LiveOutput: Sendable {
    case events([LiveEvent])
    /// A keep-alive after a time without events.
    case heartbeat
}
