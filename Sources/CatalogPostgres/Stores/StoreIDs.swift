internal import Catalog
internal import Synchronization

/// The ids of stores that were read, by key, so that a statement names the store's shard without a lookup of its own.
///
/// A store keeps its id, but a restored database may give the id to another store. So a statement that uses a known id also compares
/// the key, and an id that no longer fits is forgotten.
final class StoreIDs: Sendable {
    private let ids = Mutex<[CatalogKey: Int32]>([:])

    /// The number of ids that are kept: a few megabytes.
    private static let limit = 50_000

    subscript(key: CatalogKey) -> Int32? {
        get { ids.withLock { $0[key] } }
        set {
            ids.withLock { ids in
                if newValue != nil, ids[key] == nil, ids.count >= Self.limit { ids.removeAll() }
                ids[key] = newValue
            }
        }
    }
}
