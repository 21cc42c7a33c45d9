internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import LibPQ

/// `STORE/SHELF`, or the shelf alone where there is one store.
struct ShelfName: ExpressibleByArgument {
    let text: String
    init?(argument: String) { text = argument }

    func resolve(_ catalog: PostgresCatalog) async throws -> (CatalogKey, CatalogKey) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let shelf = CatalogKey(parts.last!) else {
            throw CommandFailure("“\(text)” names no shelf; write STORE/SHELF", CommandFailure.usage)
        }
        if parts.count == 2 {
            guard let store = CatalogKey(parts[0]) else {
                throw CommandFailure("“\(parts[0])” is no store's key", CommandFailure.usage)
            }
            return (store, shelf)
        }
        return (try await onlyStore(catalog), shelf)
    }
}

/// A store's key as typed.
func storeKey(_ text: String) throws -> CatalogKey {
    guard let key = CatalogKey(text) else {
        throw CommandFailure("a store's key is \(CatalogKey.rule)", CommandFailure.usage)
    }
    return key
}

/// The store of a catalog that has but one.
func onlyStore(_ catalog: PostgresCatalog) async throws -> CatalogKey {
    let stores = try await catalog.stores()
    guard stores.count == 1 else {
        let keys = stores.map(\.key.text).joined(separator: ", ")
        throw CommandFailure(
            stores.isEmpty ? "there is no store" : "name the store, one of: \(keys)",
            stores.isEmpty ? CommandFailure.noInput : CommandFailure.usage
        )
    }
    return stores[0].key
}
