internal import Catalog

/// The context of one row of an import: reads the values of its columns from their texts.
struct ImportRow {
    let line: Int
    let currency: Currency
    let options: ImportOptions
    let sizeContext: SizeText.Context

    func price(
        _ column: ImportColumn,
        _ text: String?
    ) throws(ImportRejection) -> ImportRecord.Price? {
        guard let text else { return nil }
        guard let amount = ExactDecimal(text) else {
            throw reject(column, text, "is not a decimal number; use a point and no thousands separators, such as 1.99")
        }
        let exact = amount.withoutBinaryNoise
        guard let price = currency.minorUnits(exact) else {
            throw reject(column, text, "must be 0 or more and less than 10^12 minor units")
        }
        return ImportRecord.Price(minor: price.minor, wasRounded: price.wasRounded, hadNoise: exact != amount)
    }

    /// Returns the text to report for a product without a known size.
    ///
    /// - Parameter name: the product's name; the end of it from the last number on counts if sizes are read from names.
    func unknownSize(name: String, _ text: String?, unit: String?) -> String? {
        if let text { return [text, unit].compactMap { $0 }.joined(separator: " ") }
        guard options.readsSizeFromName else { return nil }
        let words = name.split(separator: " ")
        return words.lastIndex { $0.contains(where: \.isASCIIDigit) }.map { words[$0...].joined(separator: " ") }
    }

    func flag(_ column: ImportColumn, _ text: String?) throws(ImportRejection) -> Bool {
        switch text?.lowercased() {
        case nil, "true", "t", "1", "yes", "y": true
        case "false", "f", "0", "no", "n": false
        default: throw reject(column, text, "must be true or false")
        }
    }

    func tags(_ text: String?) throws(ImportRejection) -> [String] {
        var tags: [String] = []
        for part in (text ?? "").split(whereSeparator: { $0 == "|" || $0 == ";" }) {
            let tag = String(part).trimmed.composed
            if tag.isEmpty || tags.contains(tag) { continue }
            guard Product.isTag(tag) else {
                throw reject(.tags, tag, "a tag must be \(Product.tagRule)")
            }
            tags.append(tag)
            guard tags.count <= Product.tagCountLimit else {
                throw reject(.tags, nil, "has more than \(Product.tagCountLimit) tags")
            }
        }
        return tags
    }

    func imageURL(_ text: String?) throws(ImportRejection) -> String? {
        guard let text else { return nil }
        guard Product.isImageURL(text) else { throw reject(.imageURL, text, "must be \(Product.imageURLRule)") }
        return text
    }

    func popularity(_ text: String?) throws(ImportRejection) -> Double {
        guard let text else { return 0 }
        guard ExactDecimal(text) != nil, let value = Double(text), (0...Popularity.seedLimit).contains(value) else {
            throw reject(.popularity, text, "must be a number of purchases from 0 to 10^12")
        }
        return value
    }

    func position(_ text: String?) throws(ImportRejection) -> (ExactDecimal, ExactDecimal)? {
        guard let text else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count <= 2, let top = ExactDecimal(parts[0]) {
            let bottom = parts.count == 2 ? ExactDecimal(parts[1]) : ExactDecimal(1)
            if let bottom, !bottom.isZero { return (top, bottom) }
        }
        throw reject(.position, text, "must be a number or a fraction such as 1/3")
    }

    func reject(_ column: ImportColumn, _ value: String?, _ reason: String) -> ImportRejection {
        options.reject(line, column, value, reason)
    }
}

extension ImportOptions {
    /// The rejection of a row for one of its columns, named as the file names it.
    func reject(_ line: Int, _ column: ImportColumn, _ value: String?, _ reason: String) -> ImportRejection {
        ImportRejection(line: line, column: title(of: column), value: value, reason: reason)
    }
}
