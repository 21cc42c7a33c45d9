internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

/// `STORE/SHELF`, or just `SHELF` if there is only one store.
struct ShelfName: ExpressibleByArgument {
    let text: String
    init?(argument: String) { text = argument }

    static var defaultCompletionKind: CompletionKind { NameCompletion.shelves }

    /// Returns the keys of an existing store and of a shelf that need not exist.
    func address(_ catalog: PostgresCatalog) async throws -> (CatalogKey, CatalogKey) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, let shelf = CatalogKey(parts.last!) else {
            throw CommandFailure("“\(text)” is not a shelf; use STORE/SHELF", CommandFailure.usage)
        }
        let store = parts.count == 2 ? StoreName(argument: parts[0]) : nil
        return (try await StoreName.resolve(store, catalog), shelf)
    }

    /// Returns the keys of an existing store and shelf.
    ///
    /// - Throws: `CommandFailure` with a suggestion if there is no such store or shelf.
    func resolve(_ catalog: PostgresCatalog) async throws -> (CatalogKey, CatalogKey) {
        let (store, shelf) = try await address(catalog)
        guard try await catalog.shelves.shelfIfExists(store, shelf) == nil else { return (store, shelf) }
        let keys = try await catalog.shelves.shelfKeys(of: store, limit: Self.candidateLimit)
        throw CommandFailure.missing(
            "shelf",
            "\(store)/\(shelf)",
            among: keys.map { "\(store)/\($0)" },
            list: "aisle shelf list \(store)"
        )
    }

    /// The maximum number of shelves among which one is suggested.
    private static let candidateLimit = 10_000
}

extension ShelfStore {
    /// Returns the keys of a store's shelves in order, at most `limit`.
    func shelfKeys(of store: CatalogKey, limit: Int) async throws -> [CatalogKey] {
        var request = ShelvesRequest(store: store)
        var keys: [CatalogKey] = []
        repeat {
            let page = try await shelves(request)
            keys += page.shelves.map(\.shelf.key)
            request.after = page.next
        } while request.after != nil && keys.count < limit
        return Array(keys.prefix(limit))
    }
}
