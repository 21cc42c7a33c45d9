/// The readiness of a server.
package enum Readiness: Sendable, Equatable {
    /// The server accepts reads and writes.
    case ready
    /// The server accepts reads only: the database is a standby, or read-only.
    case readOnly
    case unavailable
}
