internal import Catalog

/// The context of one row of an import: reads the values of its columns from their texts.
struct ImportRow {
    let line: Int
    let currency: Currency
    let options: ImportOptions
    let sizeContext: SizeText.Context
    let forms: FieldForms

    func price(
        _ column: ImportColumn,
        _ text: String?
    ) throws(ImportRejection) -> ImportRecord.Price? {
        guard let text else { return nil }
        let amount: ExactDecimal
        do throws(DecimalEvidence.Fault) { amount = try forms[column].amount(text, in: currency) } catch {
            throw reject(column, text, error.reason)
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

    /// Returns whether a product is in stock, from a word or a number of pieces; no text means that it is.
    func stock(_ text: String?) throws(ImportRejection) -> Bool {
        guard let text else { return true }
        if let isAvailable = Availability.parse(text) { return isAvailable }
        // Only the sign matters, so any decimal mark is understood.
        guard let pieces = ExactDecimal(text.replacing(",", with: ".")) else {
            throw reject(.inStock, text, "must be true or false, a known word, or a number of pieces")
        }
        return !pieces.isNegative && !pieces.isZero
    }

    /// Returns whether a promotion applies now.
    ///
    /// - Parameters:
    ///   - start: its first day or time; nil for none.
    ///   - end: its last day, or its end; nil for none.
    func promotion(from start: String?, to end: String?) throws(ImportRejection) -> ImportRecord.Promotion {
        if let end, try time(.promoTo, end, isEnd: true) <= options.now { return .expired }
        if let start, try time(.promoFrom, start, isEnd: false) > options.now { return .future }
        return .current
    }

    /// Returns the time of a text; a day begins and ends at midnight UTC.
    private func time(_ column: ImportColumn, _ text: String, isEnd: Bool) throws(ImportRejection) -> Timestamp {
        let parts = text.split(separator: ".")
        var day = text
        if parts.count == 3, parts[2].utf8.count == 4, parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }) {
            let padded = parts[..<2].map { String(repeating: "0", count: max(0, 2 - $0.utf8.count)) + $0 }
            day = "\(parts[2])-\(padded[1])-\(padded[0])"
        }
        if day.utf8.count == 10, let midnight = Timestamp(rfc3339: day + "T00:00:00Z") {
            return isEnd ? Timestamp(microseconds: midnight.microseconds + 86_400_000_000) : midnight
        }
        guard let time = Timestamp(rfc3339: text) ?? Timestamp(rfc3339: text.replacing(" ", with: "T") + "Z") else {
            throw reject(column, text, "is not a date such as 2026-03-01, so the promotion is not applied")
        }
        return time
    }

    func tags(_ text: String?) throws(ImportRejection) -> [String] {
        var tags: [String] = []
        let separators: Set<Character> = forms.hasTagsWithCommas ? [","] : ["|", ";"]
        for part in (text ?? "").split(whereSeparator: { separators.contains($0) }) {
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

    /// Returns the first of the addresses in a text, and the number of the others.
    func imageURL(_ text: String?) throws(ImportRejection) -> (first: String?, ignored: Int) {
        guard let text else { return (nil, 0) }
        func checked(_ address: String, ignored: Int) throws(ImportRejection) -> (first: String?, ignored: Int) {
            guard address.utf8.count <= Product.imageURLLimit else {
                throw reject(.imageURL, address, "exceeds \(Product.imageURLLimit) bytes; shorten it")
            }
            return (address, ignored)
        }
        if Product.isImageURL(text) { return try checked(text, ignored: 0) }
        // A comma may be part of an address, so it separates only before another one.
        let marked = [",", ";"].reduce(text) { $0.replacing("\($1)http", with: " http") }
        let addresses = marked.split(whereSeparator: { $0 == " " || $0 == "|" }).map { part in
            part.last == "," || part.last == ";" ? String(part.dropLast()) : String(part)
        }
        guard let first = addresses.first, addresses.allSatisfy(Product.isImageURL) else {
            throw reject(.imageURL, text, "must be \(Product.imageURLRule)")
        }
        return try checked(first, ignored: addresses.count - 1)
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
