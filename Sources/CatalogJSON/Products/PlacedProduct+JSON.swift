internal import JSON
package import Catalog

extension PlacedProduct {
    /// The product with its shelves, as the API returns it.
    package var json: [UInt8] {
        let presentation = ProductPresentation(store: store)
        return JSONWriter.document { presentation.write(product, shelves: shelves, to: &$0) }
    }
}
