/// A source of change notifications from all servers.
package protocol ChangeSource: Sendable {
    /// Returns a stream of notifications; it ends when the consumer stops.
    func notices() throws -> AsyncStream<ChangeNotice>
}

/// A notification from a change source.
package enum ChangeNotice: Sendable, Hashable {
    case changed(Set<ChangeTopic>)
    /// Notifications were lost; anything may have changed.
    case gap
}

/// The subject of a change notification. It is only a hint; the database's counters are authoritative.
package enum ChangeTopic: Sendable, Hashable {
    case user(UserID)
    /// Something on a shelf of the store, or the store itself.
    case store(CatalogKey)
    /// Anything.
    case all
}
