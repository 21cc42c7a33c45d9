internal import Catalog
internal import JSON

extension RecordedResponse {
    /// Reads the members of the recorded object.
    ///
    /// - Parameter body: returns nil if a required member is missing.
    /// - Throws: `fault` if the record is not an object, or not of this kind.
    func read<T>(_ body: (inout BodyReader) throws(CatalogError) -> T?) throws(CatalogError) -> T {
        do {
            var reader = try BodyReader(try JSONReader.parse(self.body, valueLimit: .max))
            if let value = try body(&reader) { return value }
        } catch {}
        throw .fault("invalid recorded response")
    }
}
