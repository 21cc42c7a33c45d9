internal import JSON
internal import Catalog
internal import CatalogJSON

/// Merge patches of API documents. Source: RFC 7396.
enum MergePatch {
    /// Returns a document merged with a patch.
    static func apply(_ patch: JSONValue, to document: (inout JSONWriter) -> Void) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(JSONWriter.document(document)).merging(patch) } catch {
            throw .fault("invalid internal document: \(error.detail)")
        }
    }

    /// The attempts of a read-merge-write cycle. A server that is slower than the others loses most of them.
    private static let attempts = 20

    /// Runs a read-merge-write cycle and retries it on conflicts with other requests.
    static func retryingConflicts<T>(_ body: () async throws -> T) async throws -> T {
        for _ in 1..<attempts {
            do { return try await body() } catch CatalogError.conflict {
                // Clients that change the same resource in a loop must not stay in step.
                try await Task.sleep(for: .microseconds(Int.random(in: 0...5000)))
            }
        }
        return try await body()
    }
}
