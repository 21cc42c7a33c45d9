internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

/// A store's key as an argument.
struct StoreName: ExpressibleByArgument {
    let text: String
    init?(argument: String) { text = argument }

    static var defaultCompletionKind: CompletionKind { NameCompletion.stores }

    /// The key, whether there is such a store or not.
    ///
    /// - Throws: `CommandFailure` if it is not a key.
    var key: CatalogKey {
        get throws {
            guard let key = CatalogKey(text) else {
                throw CommandFailure("a store key must be \(CatalogKey.rule) (got “\(text)”)", CommandFailure.usage)
            }
            return key
        }
    }

    /// Returns the key of an existing store.
    ///
    /// - Throws: `CommandFailure` with a suggestion if there is no such store.
    func resolve(_ catalog: PostgresCatalog) async throws -> CatalogKey {
        let key = try key
        // Only for a suggestion, all stores are read: on Citus, this needs all workers.
        do throws(CatalogError) { return try await catalog.shelves.store(key).key } catch {
            guard case .notFound = error else { throw error }
        }
        let stores = try await catalog.shelves.stores().map(\.key.text)
        throw CommandFailure.missing("store", text, among: stores, list: "aisle store list")
    }

    /// Returns the given store, or the only one.
    static func resolve(_ name: StoreName?, _ catalog: PostgresCatalog) async throws -> CatalogKey {
        if let name { return try await name.resolve(catalog) }
        let stores = try await catalog.shelves.stores().map(\.key)
        guard stores.count == 1 else {
            throw stores.isEmpty
                ? CommandFailure(
                    "the catalog has no store; create one with: aisle store create",
                    CommandFailure.noInput
                )
                : CommandFailure(
                    "specify the store, one of: \(stores.map(\.text).joined(separator: ", "))",
                    CommandFailure.usage
                )
        }
        return stores[0]
    }
}
