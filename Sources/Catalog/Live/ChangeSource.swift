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

/// A shelf of a store.
package struct ShelfAddress: Sendable, Hashable {
    package var store: CatalogKey
    package var shelf: CatalogKey

    package init(_ store: CatalogKey, _ shelf: CatalogKey) {
        self.store = store
        self.shelf = shelf
    }
}

/// The counters that everything depends on which a shelf shows.
package struct ShelfVersion: Sendable, Hashable {
    package var store: Int64
    package var shelf: Int64

    package init(store: Int64, shelf: Int64) {
        self.store = store
        self.shelf = shelf
    }
}
