package import Catalog

/// Converts the fields of a row into a validated record.
package struct ImportRowReader: Sendable {
    private let options: ImportOptions
    /// The columns of the file.
    package let columns: Set<ImportColumn>
    private let contexts: SizeContexts

    package init(_ options: ImportOptions, columns: Set<ImportColumn>, sizes contexts: SizeContexts = SizeContexts()) {
        self.options = options
        self.columns = columns
        self.contexts = contexts
    }

    /// - Parameters:
    ///   - forms: what the file shows of the forms of its fields.
    ///   - currencies: the currencies of known stores; a new store's first row sets its currency.
    ///   - field: returns the text of a column; nil if the row has none.
    /// - Throws: `ImportRejection`.
    package func read(
        line: Int,
        forms: FieldForms,
        currencies: inout [CatalogKey: Currency],
        field: (ImportColumn) -> String?
    ) throws(ImportRejection) -> ImportRecord {
        func text(_ column: ImportColumn, _ limit: Int) throws(ImportRejection) -> String? {
            // Line breaks and tabs inside a text become spaces; other control characters are rejected.
            var value = field(column).map { $0.isPrintable ? $0.trimmed : $0.spaced.trimmed } ?? ""
            if value.isEmpty, let constant = options.constants[column] { value = constant.trimmed }
            guard !value.isEmpty else { return nil }
            guard value.isPrintable else {
                throw options.reject(line, column, nil, "contains a control character; remove it")
            }
            // The composed form of a text may be shorter or longer.
            let composed = value.utf8.count <= 4 * limit ? value.composed : value
            guard composed.utf8.count <= limit else {
                throw options.reject(line, column, value, "exceeds \(limit) bytes; shorten it")
            }
            return composed
        }
        let store = try readStore(line, try text(.store, 256))
        let currency = try readCurrency(line, store, try text(.currency, 16), &currencies)
        let shelf = try text(.shelf, Shelf.titleLimit)
        let row = ImportRow(
            line: line,
            currency: currency,
            options: options,
            sizeContext: contexts.context(of: store, shelf: shelf),
            forms: forms
        )
        let skuText = try text(.sku, 1024)
        if let skuText, SKUText.isRounded(skuText) { throw row.reject(.sku, skuText, SKUText.roundedReason) }
        guard let sku = SKU(skuText ?? "") else { throw row.reject(.sku, skuText, "must be \(SKU.rule)") }
        var record = ImportRecord(
            line: line,
            store: store,
            shelf: shelf,
            currency: currency,
            product: Product(sku: sku, name: ""),
            position: try row.position(try text(.position, 64))
        )
        for field in ProductField.allCases { try field.read(row, into: &record, text) }
        return record
    }

    private func readStore(_ line: Int, _ text: String?) throws(ImportRejection) -> CatalogKey {
        guard let text else {
            guard let store = options.store else {
                throw options.reject(line, .store, nil, "is missing; fill it in, or set a store for the whole file")
            }
            return store
        }
        guard let key = CatalogKey(text) else {
            throw options.reject(line, .store, text, "must be \(CatalogKey.rule)")
        }
        guard !options.rejectsOtherStores || key == options.store else {
            throw options.reject(line, .store, text, "is not the store of this import; import it into its own store")
        }
        return key
    }

    private func readCurrency(
        _ line: Int,
        _ store: CatalogKey,
        _ text: String?,
        _ currencies: inout [CatalogKey: Currency]
    ) throws(ImportRejection) -> Currency {
        guard let text else {
            let currency = currencies[store] ?? options.currency
            currencies[store] = currency
            return currency
        }
        guard let currency = Currency(text) else {
            throw options.reject(line, .currency, text, "must be an ISO 4217 code such as EUR")
        }
        if let known = currencies[store], known != currency {
            throw options.reject(line, .currency, text, "must be \(known.code), the store's currency")
        }
        currencies[store] = currency
        return currency
    }
}

extension String {
    /// The text with each run of white space replaced by one space.
    fileprivate var spaced: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if !scalar.properties.isWhitespace { text.append(scalar) } else if text.last != " " { text.append(" ") }
        }
        return String(text)
    }
}
