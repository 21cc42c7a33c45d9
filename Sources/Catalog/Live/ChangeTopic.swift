/// The subject of a change notification. It only says where to look; the database's counters are authoritative.
package enum ChangeTopic: Sendable, Hashable {
    case user(UserID)
    /// Something on a shelf of the store, or the store itself.
    case store(CatalogKey)
    /// Anything.
    case anything
}
