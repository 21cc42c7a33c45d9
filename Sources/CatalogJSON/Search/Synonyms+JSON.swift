package import Catalog
internal import JSON

extension Synonyms {
    /// Reads synonyms from the text of a document.
    ///
    /// - Throws: as `init(_:)`; `malformed` for a text that is not JSON.
    package init(text: [UInt8]) throws(CatalogError) {
        let body: JSONValue
        do { body = try JSONReader.parse(text) } catch {
            throw .malformed(parameter: nil, detail: "invalid JSON at byte \(error.offset): \(error.detail)")
        }
        try self.init(body)
    }

    /// The synonyms as the API returns them.
    package var json: [UInt8] { Array(document.text.utf8) }
}
