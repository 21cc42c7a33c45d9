package import Catalog

/// Turns the fields of a row into a checked record.
package struct ImportRowReader: Sendable {
    private let options: ImportOptions
    /// Which columns the file has.
    package let columns: Set<ImportColumn>

    package init(_ options: ImportOptions, columns: Set<ImportColumn>) {
        self.options = options
        self.columns = columns
    }

    /// - Parameters:
    ///   - currencies: of the stores that exist or were met before; a new store's first row decides its own.
    ///   - field: the text of a column, nil where the row has none.
    /// - Throws: `ImportRejection`.
    package func read(
        line: Int,
        currencies: inout [CatalogKey: Currency],
        field: (ImportColumn) -> String?
    ) throws(ImportRejection) -> ImportRecord {
        func text(_ column: ImportColumn, _ limit: Int) throws(ImportRejection) -> String? {
            guard let raw = field(column), !raw.isEmpty else { return nil }
            // Line breaks and tabs inside a text become spaces; other control characters are refused.
            let value = raw.isPrintable ? raw.trimmed : raw.spaced.trimmed
            guard !value.isEmpty else { return nil }
            guard value.isPrintable else {
                throw options.reject(line, column, nil, "has a control character")
            }
            guard value.utf8.count <= limit else {
                throw options.reject(line, column, value, "has more than \(limit) bytes")
            }
            return value
        }
        let store = try readStore(line, try text(.store, 256))
        let currency = try readCurrency(line, store, try text(.currency, 16), &currencies)
        let row = ImportRow(line: line, currency: currency, options: options)
        let skuText = try text(.sku, 1024)
        guard let sku = SKU(skuText ?? "") else { throw row.reject(.sku, skuText, "a sku is \(SKU.rule)") }
        var record = ImportRecord(
            line: line,
            store: store,
            shelf: try text(.shelf, Shelf.titleLimit),
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
                throw options.reject(line, .store, nil, "is missing, and no store was named for the whole file")
            }
            return store
        }
        guard let key = CatalogKey(text) else {
            throw options.reject(line, .store, text, "a store's key is \(CatalogKey.rule)")
        }
        guard !options.isForOneStore || key == options.store else {
            throw options.reject(line, .store, text, "is another store than this import is for")
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
        guard let currency = Currency(text) else { throw options.reject(line, .currency, text, "is no ISO 4217 code") }
        if let known = currencies[store], known != currency {
            throw options.reject(line, .currency, text, "the store's currency is \(known.code)")
        }
        currencies[store] = currency
        return currency
    }
}

extension String {
    /// With one space for each run of white space.
    fileprivate var spaced: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if !scalar.properties.isWhitespace { text.append(scalar) } else if text.last != " " { text.append(" ") }
        }
        return String(text)
    }
}
