/// The subject of a change notification. It is only a hint; the database's counters are authoritative.
package enum ChangeTopic: Sendable, Hashable {
    case user(UserID)
    /// Something on a shelf of the store, or the store itself.
    case store(CatalogKey)
    /// Anything.
    case all
}
