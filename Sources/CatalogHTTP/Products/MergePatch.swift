internal import Catalog
internal import CatalogJSON

/// Merge patches of our own documents. Source: RFC 7396.
enum MergePatch {
    /// Merges a patch into the document that a body writes.
    static func apply(_ patch: JSONValue, to document: (inout JSONText) -> Void) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(JSONText.document(document)).merging(patch) } catch {
            throw .fault("our own document: \(error.detail)")
        }
    }

    /// Reads, merges and writes; does it again if another request wrote in between.
    static func retryingConflicts<T>(_ body: () async throws -> T) async throws -> T {
        for _ in 0..<5 {
            do { return try await body() } catch CatalogError.conflict { continue }
        }
        return try await body()
    }
}
