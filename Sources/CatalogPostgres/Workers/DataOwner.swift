package import Catalog

/// The store or the user that rows belong to. On Citus, all rows of an owner are on one worker.
package enum DataOwner: Sendable, Hashable {
    /// A store, by its id.
    case store(Int32)
    case user(UserID)

    /// The hash by which Citus chooses the shard.
    var hash: Int32 {
        switch self {
        case .store(let id): PostgresHash.of(id)
        case .user(let user): PostgresHash.of(Array(user.text.utf8))
        }
    }
}
