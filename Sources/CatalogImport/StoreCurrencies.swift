internal import Catalog

/// The stores in the rows of an import.
struct StoreCurrencies {
    /// The currencies of known stores; a new store's first row sets its currency.
    var currencies: [CatalogKey: Currency]
    /// The last text and its key: files list the rows of a store together.
    private var last: (text: String, key: CatalogKey)?

    init(currencies: [CatalogKey: Currency]) { self.currencies = currencies }

    /// Parses the key of a store; returns nil for an invalid text.
    mutating func key(_ text: String) -> CatalogKey? {
        if let last, last.text == text { return last.key }
        guard let key = CatalogKey(text) else { return nil }
        last = (text, key)
        return key
    }
}
