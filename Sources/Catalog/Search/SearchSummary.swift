/// A search as a response names it: the text, the class in use, and if it finds no product, which words find nothing.
package struct SearchSummary: Hashable, Sendable {
    package let text: SearchText
    /// The worst class of matches that are shown.
    package let searchClass: SearchClass
    /// The explanation of a search without results; nil for one that finds products, whether or not a filter excludes them.
    package let failure: Failure?

    package struct Failure: Hashable, Sendable {
        /// The words of the search that no product has, as they were written.
        package let missing: [String]
        /// The best correction; nil without one that finds products.
        package let correction: String?

        package init(missing: [String], correction: String?) { (self.missing, self.correction) = (missing, correction) }
    }

    package init(_ text: SearchText, _ searchClass: SearchClass, failure: Failure? = nil) {
        (self.text, self.searchClass, self.failure) = (text, searchClass, failure)
    }
}

/// A part of a product's text that matches a search.
package struct ProductMatch: Hashable, Sendable {
    package enum Field: Hashable, Sendable {
        case name, brand, sku, barcode
        /// A tag by its index.
        case tag(Int)
        /// An attribute, with the index of the element for a set.
        case attribute(AttributeName, Int?)

        /// The name in responses.
        package var name: String {
            switch self {
            case .name: "name"
            case .brand: "brand"
            case .sku: "sku"
            case .barcode: "barcode"
            case .tag: "tags"
            case .attribute(let name, _): AttributeReference.pathPrefix + name.text
            }
        }

        /// The index of the text in a list; nil for a field with one text.
        package var index: Int? {
            switch self {
            case .tag(let index): index
            case .attribute(_, let index): index
            case .name, .brand, .sku, .barcode: nil
            }
        }
    }

    package let field: Field
    /// The range in the text, in UTF-16 units.
    package let range: Range<Int>

    package init(_ field: Field, _ range: Range<Int>) { (self.field, self.range) = (field, range) }
}
