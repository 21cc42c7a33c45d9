internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import LibPQ

/// `STORE/SHELF`, or just `SHELF` if there is only one store.
struct ShelfName: ExpressibleByArgument {
    let text: String
    init?(argument: String) { text = argument }

    func resolve(_ catalog: PostgresCatalog) async throws -> (CatalogKey, CatalogKey) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let shelf = CatalogKey(parts.last!) else {
            throw CommandFailure("“\(text)” is not a shelf; use STORE/SHELF", CommandFailure.usage)
        }
        if parts.count == 2 {
            guard let store = CatalogKey(parts[0]) else {
                throw CommandFailure("“\(parts[0])” is not a store key", CommandFailure.usage)
            }
            return (store, shelf)
        }
        return (try await onlyStore(catalog), shelf)
    }
}

/// Parses a store key from a command line argument.
func storeKey(_ text: String) throws -> CatalogKey {
    guard let key = CatalogKey(text) else {
        throw CommandFailure("a store key must be \(CatalogKey.rule)", CommandFailure.usage)
    }
    return key
}

/// Returns the only store of a catalog.
func onlyStore(_ catalog: PostgresCatalog) async throws -> CatalogKey {
    let stores = try await catalog.stores()
    guard stores.count == 1 else {
        let keys = stores.map(\.key.text).joined(separator: ", ")
        throw CommandFailure(
            stores.isEmpty ? "the catalog has no store" : "specify the store, one of: \(keys)",
            stores.isEmpty ? CommandFailure.noInput : CommandFailure.usage
        )
    }
    return stores[0].key
}
