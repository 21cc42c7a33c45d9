/// What may have changed. Counters of the database are the truth; this only says where to look.
package enum ChangeTopic: Sendable, Hashable {
    case user(UserID)
    /// Something on a shelf of the store, or the store itself.
    case store(CatalogKey)
    /// Anything.
    case anything
}
