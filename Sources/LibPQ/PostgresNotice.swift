/// A notification from a listener.
package enum PostgresNotice: Sendable, Equatable {
    /// Listening started or resumed: earlier notifications were missed.
    case gap
    case notification(channel: String, payload: String)
    /// The connection was lost; a `gap` follows after reconnecting.
    case lost
}
