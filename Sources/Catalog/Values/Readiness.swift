/// What a server can do for its clients.
package enum Readiness: Sendable, Equatable {
    /// Reads and writes.
    case ready
    /// Reads alone: the database is a standby, or read-only.
    case readOnly
    case unavailable
}
