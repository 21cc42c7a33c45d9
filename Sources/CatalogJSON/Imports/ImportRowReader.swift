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
        func text(_ column: ImportColumn, bytes limit: Int) throws(ImportRejection) -> String? {
            guard let raw = field(column), !raw.isEmpty else { return nil }
            // Line breaks and tabs inside a text are spaces; what else does not print has no place in a catalog.
            let value = raw.isPrintable ? raw.trimmed : raw.spaced.trimmed
            guard !value.isEmpty else { return nil }
            guard value.isPrintable else { throw reject(line, column, nil, "has a control character") }
            guard value.utf8.count <= limit else { throw reject(line, column, value, "has more than \(limit) bytes") }
            return value
        }
        let store = try readStore(line, try text(.store, bytes: 256))
        let currency = try readCurrency(line, store, try text(.currency, bytes: 16), &currencies)
        let skuText = try text(.sku, bytes: 1024)
        guard let sku = SKU(skuText ?? "") else { throw reject(line, .sku, skuText, "a sku is \(SKU.rule)") }
        guard let name = try text(.name, bytes: Product.nameLimit) else { throw reject(line, .name, nil, "is missing") }
        var prices = try (
            price(line, .price, try text(.price, bytes: 64), currency),
            price(line, .promoPrice, try text(.promoPrice, bytes: 64), currency)
        )
        // A promotional price is the price; the price then the regular one.
        if prices.1 != nil { prices = (prices.1, prices.0) } else { prices = (prices.0, nil) }
        let size = try readSize(
            line,
            name,
            try text(.size, bytes: 200),
            try text(.unit, bytes: 64),
            try text(.packCount, bytes: 32),
            try text(.drained, bytes: 64)
        )
        return ImportRecord(
            line: line,
            store: store,
            shelf: try text(.shelf, bytes: Shelf.titleLimit),
            sku: sku,
            currency: currency,
            name: name,
            brand: try text(.brand, bytes: Product.brandLimit),
            priceMinor: prices.0?.minor,
            regularPriceMinor: prices.1?.minor,
            wasRounded: prices.0?.wasRounded ?? false || prices.1?.wasRounded ?? false,
            size: size,
            barcode: try text(.barcode, bytes: Product.barcodeLimit),
            imageURL: try readImageURL(line, try text(.imageURL, bytes: Product.imageURLLimit)),
            inStock: try readFlag(line, try text(.inStock, bytes: 16)),
            tags: try readTags(line, try text(.tags, bytes: 4096)),
            popularity: try readPopularity(line, try text(.popularity, bytes: 64)),
            position: try readPosition(line, try text(.position, bytes: 64))
        )
    }

    // MARK: - Fields

    private func readStore(_ line: Int, _ text: String?) throws(ImportRejection) -> CatalogKey {
        guard let text else {
            guard let store = options.store else {
                throw reject(line, .store, nil, "is missing, and no store was named for the whole file")
            }
            return store
        }
        guard let key = CatalogKey(text) else {
            throw reject(line, .store, text, "a store's key is \(CatalogKey.rule)")
        }
        guard !options.isForOneStore || key == options.store else {
            throw reject(line, .store, text, "is another store than this import is for")
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
        guard let currency = Currency(text) else { throw reject(line, .currency, text, "is no ISO 4217 code") }
        if let known = currencies[store], known != currency {
            throw reject(line, .currency, text, "the store's currency is \(known.code)")
        }
        currencies[store] = currency
        return currency
    }

    private func price(
        _ line: Int,
        _ column: ImportColumn,
        _ text: String?,
        _ currency: Currency
    ) throws(ImportRejection) -> (minor: Int64, wasRounded: Bool)? {
        guard let text else { return nil }
        guard let amount = ExactDecimal(text) else {
            throw reject(line, column, text, "is no decimal number; write 1.99, with a point and no separators")
        }
        guard let price = currency.minorUnits(amount) else {
            throw reject(line, column, text, "must be 0 or more and less than 10^12 minor units")
        }
        return price
    }

    private func readSize(
        _ line: Int,
        _ name: String,
        _ text: String?,
        _ unitText: String?,
        _ packsText: String?,
        _ drainedText: String?
    ) throws(ImportRejection) -> Size? {
        guard let text else { return options.readsSizeFromName ? SizeText.parse(name) : nil }
        let isApproximate = text.utf8.first == UInt8(ascii: "~")
        guard let amount = ExactDecimal(isApproximate ? text.dropFirst() : text[...]) else {
            // Not a number: a text such as "6 x 330 ml", which says its own unit.
            let size = SizeText.parse(text)
            return size == nil && options.readsSizeFromName ? SizeText.parse(name) : size
        }
        guard let unitText else { throw reject(line, .unit, nil, "is missing: a size needs a unit") }
        guard let unit = MeasureUnit(spelling: unitText) else { throw reject(line, .unit, unitText, "is no unit") }
        var packs = 1
        if let packsText {
            guard let count = Int(packsText), (1...1_000_000).contains(count) else {
                throw reject(line, .packCount, packsText, "must be a whole number from 1 to 1000000")
            }
            packs = count
        }
        var drained: ExactDecimal?
        if let drainedText {
            drained = ExactDecimal(drainedText)
            if drained == nil { throw reject(line, .drained, drainedText, "is no decimal number") }
        }
        do {
            let size = try Size(
                amount: amount,
                unit: unit,
                packs: packs,
                drained: drained,
                isApproximate: isApproximate
            )
            return size == nil && options.readsSizeFromName ? SizeText.parse(name) : size
        } catch {
            throw reject(line, .size, text, error.reason)
        }
    }

    private func readFlag(_ line: Int, _ text: String?) throws(ImportRejection) -> Bool {
        switch text?.lowercased() {
        case nil, "true", "t", "1", "yes", "y": true
        case "false", "f", "0", "no", "n": false
        default: throw reject(line, .inStock, text, "must be true or false")
        }
    }

    private func readTags(_ line: Int, _ text: String?) throws(ImportRejection) -> [String] {
        var tags: [String] = []
        for part in (text ?? "").split(whereSeparator: { $0 == "|" || $0 == ";" }) {
            let tag = String(part).trimmed
            if tag.isEmpty || tags.contains(tag) { continue }
            guard Product.isTag(tag) else {
                throw reject(line, .tags, tag, "a tag is \(Product.tagRule)")
            }
            tags.append(tag)
            guard tags.count <= Product.tagCountLimit else { throw reject(line, .tags, nil, "has more than 50 tags") }
        }
        return tags
    }

    private func readImageURL(_ line: Int, _ text: String?) throws(ImportRejection) -> String? {
        guard let text else { return nil }
        guard Product.isImageURL(text) else { throw reject(line, .imageURL, text, "must be \(Product.imageURLRule)") }
        return text
    }

    private func readPopularity(_ line: Int, _ text: String?) throws(ImportRejection) -> Double {
        guard let text else { return 0 }
        guard ExactDecimal(text) != nil, let value = Double(text), (0...Popularity.seedLimit).contains(value) else {
            throw reject(line, .popularity, text, "must be a number of purchases, 0 to 10^12")
        }
        return value
    }

    private func readPosition(
        _ line: Int,
        _ text: String?
    ) throws(ImportRejection) -> (ExactDecimal, ExactDecimal)? {
        guard let text else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count <= 2, let top = ExactDecimal(parts[0]) {
            let bottom = parts.count == 2 ? ExactDecimal(parts[1]) : ExactDecimal(1)
            if let bottom, !bottom.isZero { return (top, bottom) }
        }
        throw reject(line, .position, text, "must be a number or a fraction such as 1/3")
    }

    private func reject(
        _ line: Int,
        _ column: ImportColumn,
        _ value: String?,
        _ reason: String
    ) -> ImportRejection {
        ImportRejection(line: line, column: options.title(of: column), value: value, reason: reason)
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
