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

    /// Runs a read-merge-write cycle and retries it on conflicts with other requests.
    static func retryingConflicts<T>(_ body: () async throws -> T) async throws -> T {
        for _ in 0..<5 {
            do { return try await body() } catch CatalogError.conflict { continue }
        }
        return try await body()
    }
}
