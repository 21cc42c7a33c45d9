package import Catalog

/// Converts the fields of a row into a validated record.
///
/// It is a class, because rows refer to it: copying its options for each row would cost more than reading the row.
package final class ImportRecordReader: Sendable {
    let options: ImportOptions
    private let contexts: SizeContexts
    let declared: StoreAttributes
    let words: FileWords

    package init(
        _ options: ImportOptions,
        sizes contexts: SizeContexts = SizeContexts(),
        attributes declared: StoreAttributes = StoreAttributes()
    ) {
        self.options = options
        self.contexts = contexts
        self.declared = declared
        words = FileWords(options.profile)
    }

    /// - Parameters:
    ///   - forms: what the file shows of the forms of its fields.
    ///   - stores: the stores in the file.
    ///   - known: the cells of attributes in earlier rows of the file.
    ///   - columns: the columns of the file.
    ///   - cell: returns the text of a column of the file; nil if the row has none.
    /// - Throws: `ImportRejection`.
    func read(
        line: Int,
        forms: FieldForms,
        stores: inout StoreCurrencies,
        known: inout KnownCells,
        columns: ResolvedColumns,
        _ cell: (Int) -> String?
    ) throws(ImportRejection) -> ImportRecord {
        func text(_ column: ImportColumn, _ limit: Int) throws(ImportRejection) -> String? {
            guard let cellText = columns.text(column, cell) else { return nil }
            // Line breaks and tabs inside a text become spaces; other control characters are rejected.
            let isPrintable = cellText.isPrintable
            let value = Self.unescaped(isPrintable ? cellText.trimmed : cellText.spaced.trimmed, column)
            guard !value.isEmpty else { return nil }
            guard isPrintable || value.isPrintable else {
                throw options.reject(line, column, nil, "contains a control character; remove it")
            }
            // The composed form of a text may be shorter or longer.
            let composed = value.utf8.count <= 4 * limit ? value.composed : value
            guard composed.utf8.count <= limit else {
                throw options.reject(line, column, value, "exceeds \(limit) bytes; shorten it")
            }
            return composed
        }
        let store = try readStore(line, try text(.store, 256), &stores)
        let currency = try readCurrency(line, store, try text(.currency, 16), &stores.currencies) {
            columns.text(.price, cell) ?? columns.text(.promoPrice, cell)
        }
        let shelves = try readShelves(line, text)
        let hasSizes = columns.hasSizes || options.profile.readsSizeFromName
        let row = ValueReader(
            self,
            line: line,
            currency: currency,
            sizeContext: context(of: store, shelf: shelves.first),
            forms: forms,
            hasSizes: hasSizes
        )
        let skuText = try text(.sku, 1024)
        guard let skuText else { throw row.reject(.sku, nil, "is missing") }
        if SKUText.isRounded(skuText) { throw row.reject(.sku, skuText, SKUText.roundedReason) }
        guard let sku = SKU(skuText) else { throw row.reject(.sku, skuText, "must be \(SKU.rule)") }
        var record = ImportRecord(
            line: line,
            store: store,
            shelves: shelves,
            currency: currency,
            product: Product(sku: sku, name: ""),
            position: try row.position(try text(.position, 64))
        )
        (record.hasPrices, record.hasSizes) = (columns.hasPrices, hasSizes)
        for field in ProductField.allCases { try field.read(row, into: &record, text) }
        if let attributes = try readAttributes(row, &record, columns, &known, cell) {
            record.product.attributes = attributes
            record.hasAttributes = true
        }
        return record
    }

    /// Returns a text without the marks of spreadsheets and shops: the apostrophe before what they might take for a formula or a
    /// number, and the formula `="0099"` for a text of digits.
    static func unescaped(_ text: String, _ column: ImportColumn) -> String {
        if text.utf8.first == UInt8(ascii: "="), text.hasPrefix("=\""), text.hasSuffix("\""), text.utf8.count > 3 {
            let inner = text.dropFirst(2).dropLast()
            if !inner.contains("\"") { return String(inner).trimmed }
        }
        guard text.utf8.first == UInt8(ascii: "'"), let next = text.dropFirst().first else { return text }
        let isID = column == .sku || column == .barcode
        return "=+-@".contains(next) || isID && next.isNumber ? String(text.dropFirst()).trimmed : text
    }

    private func context(of store: CatalogKey, shelf: [String]?) -> SizeText.Context {
        var context = contexts.context(of: store, shelf: shelf?.last)
        if let language = options.profile.language { context.language = language }
        context.units = words.units
        return context
    }

    /// Returns the shelves of a row, each with the shelves above it.
    private func readShelves(
        _ line: Int,
        _ text: (ImportColumn, _ limit: Int) throws(ImportRejection) -> String?
    ) throws(ImportRejection) -> [[String]] {
        let (several, path) = (options.profile.separators[.shelf], options.profile.shelfPathSeparator)
        guard several != nil || path != nil else {
            return try text(.shelf, Shelf.titleLimit).map { [[$0]] } ?? []
        }
        var shelves: [[String]] = []
        let cell = try text(.shelf, 16 * Shelf.titleLimit) ?? ""
        let quoted = options.hasQuotedLists ? Self.quotedValues(cell) : nil
        for part in quoted ?? Self.parts(cell, several) {
            let titles = Self.parts(part, path)
            if titles.isEmpty || shelves.contains(titles) { continue }
            guard titles.count <= Shelf.depthLimit, titles.allSatisfy({ $0.utf8.count <= Shelf.titleLimit }) else {
                throw options.reject(
                    line,
                    .shelf,
                    part,
                    "must have at most \(Shelf.depthLimit) levels of at most \(Shelf.titleLimit) bytes"
                )
            }
            shelves.append(titles)
        }
        guard shelves.count <= Self.shelfLimit else {
            throw options.reject(line, .shelf, nil, "has more than \(Self.shelfLimit) shelves")
        }
        return shelves
    }

    /// The maximum number of shelves in a row.
    private static let shelfLimit = 50

    /// Returns the values of a list such as `"Food, Drinks > Milk",Offers`; nil if none of them has quotes.
    static func quotedValues(_ text: String) -> [String]? {
        guard text.utf8.contains(UInt8(ascii: "\"")) else { return nil }
        var values: [String] = []
        var rest = text[...]
        while true {
            rest = rest.drop { $0 == " " }
            var value = ""
            if rest.first == "\"" {
                var isFirst = true
                repeat {
                    if !isFirst { value.append("\"") }
                    isFirst = false
                    rest.removeFirst()
                    guard let end = rest.firstIndex(of: "\"") else { return nil }
                    value += rest[..<end]
                    rest = rest[end...].dropFirst()
                } while rest.first == "\""
                rest = rest.drop { $0 == " " }
                guard rest.isEmpty || rest.first == "," else { return nil }
            } else {
                value = String(rest.prefix { $0 != "," })
                guard !value.contains("\"") else { return nil }
                rest = rest.dropFirst(value.count)
            }
            if !value.trimmed.isEmpty { values.append(value.trimmed) }
            if rest.isEmpty { return values }
            rest.removeFirst()
        }
    }

    /// Splits a text at a separator that no backslash precedes; empty parts do not count.
    static func parts(_ text: String, _ separator: String?) -> [String] {
        guard let separator else { return [text.trimmed].filter { !$0.isEmpty } }
        guard text.utf8.contains(UInt8(ascii: "\\")) else {
            return text.split(separator: separator).map { String($0).trimmed }.filter { !$0.isEmpty }
        }
        let escaped = text.replacing("\\" + separator, with: "\u{1}")
        return escaped.split(separator: separator).map {
            String($0).replacing("\u{1}", with: separator).trimmed
        }.filter { !$0.isEmpty }
    }

    private func readStore(
        _ line: Int,
        _ text: String?,
        _ stores: inout StoreCurrencies
    ) throws(ImportRejection) -> CatalogKey {
        guard let text else {
            guard let store = options.store else {
                throw options.reject(line, .store, nil, "is missing; fill it in, or set a store for the whole file")
            }
            return store
        }
        guard let key = stores.key(text) else {
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
        _ currencies: inout [CatalogKey: Currency],
        price: () -> String?
    ) throws(ImportRejection) -> Currency {
        guard let text else {
            if let known = currencies[store] { return known }
            let stated = options.currency ?? options.profile.currency
            let currency = stated ?? price().flatMap { PriceText($0)?.namedCurrency } ?? Currency("EUR")!
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
    var spaced: String {
        var text = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if !scalar.properties.isWhitespace { text.append(scalar) } else if text.last != " " { text.append(" ") }
        }
        return String(text)
    }
}
