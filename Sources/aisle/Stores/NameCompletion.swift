internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

/// Completes the names of stores and shelves in a shell, from the database that the commands use by default.
///
/// A shell must not wait or print errors while a user types: without a database there are no suggestions.
enum NameCompletion {
    static let stores = CompletionKind.custom { _, _, prefix in
        await names { catalog in try await catalog.shelves.stores().map(\.key.text).filter { $0.hasPrefix(prefix) } }
    }

    static let shelves = CompletionKind.custom { _, _, prefix in
        await names { catalog in
            let stores = try await catalog.shelves.stores().map(\.key)
            var found: [String] = []
            // With one store, its key may be left out.
            if stores.count == 1, !prefix.contains("/") {
                found = try await catalog.shelves.shelfKeys(of: stores[0], limit: limit).map(\.text)
            }
            for store in stores where "\(store)/".hasPrefix(prefix) || prefix.hasPrefix("\(store)/") {
                found += try await catalog.shelves.shelfKeys(of: store, limit: limit).map { "\(store)/\($0)" }
            }
            return found.filter { $0.hasPrefix(prefix) }
        }
    }

    /// The maximum number of shelves of a store.
    private static let limit = 1000
    /// How long a shell may wait for names.
    private static let patience = Duration.seconds(2)

    private static func names(_ read: @escaping @Sendable (PostgresCatalog) async throws -> [String]) async -> [String]
    {
        let options = try? DatabaseOptions.parse([])
        return await withTaskGroup(of: [String].self) { group in
            group.addTask { (try? await options?.withCatalog { try await read($0) }) ?? [] }
            group.addTask {
                try? await Task.sleep(for: patience)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
    }
}
