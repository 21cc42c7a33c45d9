/// What may have changed. Counters of the database are the truth; this only says where to look.
package enum ChangeTopic: Sendable, Hashable {
    case user(UserID)
    /// Something on a shelf of the store, or the store itself.
    case store(CatalogKey)
    /// Anything.
    case anything
}

/// What a source of changes tells.
package enum ChangeNotice: Sendable, Hashable {
    case changed(Set<ChangeTopic>)
    /// Anything may have changed: some were not heard.
    case gap
}

/// Hears what any server changes.
package protocol ChangeSource: Sendable {
    /// What is heard, until its consumer ends.
    func notices() throws -> AsyncStream<ChangeNotice>
}
