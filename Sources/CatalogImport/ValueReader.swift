internal import JSON
internal import Catalog

/// Reads the values of one row of an import from the texts of its columns.
final class ValueReader {
    private let reader: ImportRecordReader
    let line: Int
    let currency: Currency
    let sizeContext: SizeText.Context
    let forms: FieldForms
    /// Whether the import writes sizes.
    let hasSizes: Bool

    var options: ImportOptions { reader.options }
    var words: FileWords { reader.words }

    init(
        _ reader: ImportRecordReader,
        line: Int,
        currency: Currency,
        sizeContext: SizeText.Context,
        forms: FieldForms,
        hasSizes: Bool
    ) {
        self.reader = reader
        self.line = line
        self.currency = currency
        self.sizeContext = sizeContext
        self.forms = forms
        self.hasSizes = hasSizes
    }

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
        guard options.profile.readsSizeFromName else { return nil }
        let words = name.split(separator: " ")
        return words.lastIndex { $0.contains(where: \.isASCIIDigit) }.map { words[$0...].joined(separator: " ") }
    }

    /// Returns whether a product is in stock, from a word or a number of pieces; no text means that it is.
    func stock(_ text: String?) throws(ImportRejection) -> Bool {
        guard let text else { return true }
        if let isAvailable = words.isAvailable(text) { return isAvailable }
        // Only the sign matters, so any decimal mark is understood.
        guard let pieces = ExactDecimal(text.replacing(",", with: ".")) else {
            throw reject(.inStock, text, "must be true or false, a known word, or a number of pieces")
        }
        return !pieces.isNegative && !pieces.isZero
    }

    /// Returns whether a promotion applies now.
    ///
    /// Each text may also be the interval of both times (ISO 8601), such as `2026-03-01T08:00Z/2026-03-14T20:00Z`.
    ///
    /// - Parameters:
    ///   - start: its first day or time; nil for none.
    ///   - end: its last day, or its end; nil for none.
    func promotion(from start: String?, to end: String?) throws(ImportRejection) -> ImportRecord.Promotion {
        if let end = end.map({ Self.half($0, isEnd: true) }), !end.isEmpty {
            guard try isLater(.promoTo, end, isEnd: true) else { return .expired }
        }
        if let start = start.map({ Self.half($0, isEnd: false) }), !start.isEmpty {
            if try isLater(.promoFrom, start, isEnd: false) { return .future }
        }
        return .current
    }

    private static func half(_ text: String, isEnd: Bool) -> String {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return text }
        return String(isEnd ? halves[1] : halves[0]).trimmed
    }

    /// Whether a time is after now. A day begins and ends at midnight in the time zone of the file, or UTC.
    private func isLater(_ column: ImportColumn, _ text: String, isEnd: Bool) throws(ImportRejection) -> Bool {
        guard let time = FileTime(text) else {
            throw reject(column, text, "is not a date such as 2026-03-01, so the promotion is not applied")
        }
        let now = time.isLocal ? options.localNow ?? options.now : options.now
        let end = time.isDay && isEnd ? time.time.microseconds + 86_400_000_000 : time.time.microseconds
        return end > now.microseconds
    }

    /// Returns a price without the deposit that it includes; nil for none.
    func withoutDeposit(
        _ price: ImportRecord.Price?,
        _ deposit: ImportRecord.Price?
    ) throws(ImportRejection) -> ImportRecord.Price? {
        guard var price, let deposit else { return price }
        guard deposit.minor <= price.minor else {
            throw reject(.deposit, nil, "exceeds the price that includes it")
        }
        price.minor -= deposit.minor
        return price
    }

    /// Returns the attributes of a product that an object of JSON has.
    func attributes(_ text: String?) throws(ImportRejection) -> [JSONValue.Member] {
        guard let text, !text.trimmed.isEmpty else { return [] }
        guard let value = try? JSONReader.parse(Array(text.utf8)), case .object(let members) = value,
            value.isWithinNumberLimits, value.text.utf8.count <= Product.attributesLimit
        else {
            throw reject(.attributes, text, "must be an object of JSON of at most \(Product.attributesLimit) bytes")
        }
        return members
    }

    func tags(_ text: String?) throws(ImportRejection) -> [String] {
        guard let text else { return [] }
        var tags: [String] = []
        let separators: Set<Character> = forms.hasTagsWithCommas ? [","] : ["|", ";"]
        let parts =
            if let separator = forms.separators[.tags] {
                ImportRecordReader.parts(text, separator)
            } else {
                text.split(whereSeparator: { separators.contains($0) }).map { String($0).trimmed }
            }
        for part in parts {
            let tag = part.composed
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

    /// Returns a barcode; nil for no text.
    func barcode(_ text: String?) throws(ImportRejection) -> String? {
        guard let text else { return nil }
        if SKUText.isRounded(text) { throw reject(.barcode, text, SKUText.roundedReason) }
        guard !SKUText.isSuspicious(text), !text.hasSuffix(".0") else {
            throw reject(
                .barcode,
                text,
                "looks like a number that a spreadsheet wrote or rounded; format the column as text"
            )
        }
        guard text.utf8.contains(where: { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }) else {
            throw reject(.barcode, text, "has no digits from 1 to 9, as barcodes have; correct it, or leave it empty")
        }
        return text
    }

    /// Returns the first of the addresses in a text, and the number of the others.
    func imageURL(_ text: String?) throws(ImportRejection) -> (first: String?, ignored: Int) {
        guard let text else { return (nil, 0) }
        func checked(_ address: String, ignored: Int) throws(ImportRejection) -> (first: String?, ignored: Int) {
            let limit = ProductText.imageURL.limit
            guard address.utf8.count <= limit else {
                throw reject(.imageURL, address, "exceeds \(limit) bytes; shorten it")
            }
            return (address, ignored)
        }
        if Product.isImageURL(text) { return try checked(text, ignored: 0) }
        let addresses = forms.separators[.imageURL].map { ImportRecordReader.parts(text, $0) } ?? Self.addresses(text)
        guard let first = addresses.first, addresses.allSatisfy(Product.isImageURL) else {
            throw reject(.imageURL, text, "must be \(Product.imageURLRule)")
        }
        return try checked(first, ignored: addresses.count - 1)
    }

    /// Returns the addresses in a text. A comma may be part of an address, so a comma is a separator only before another address.
    private static func addresses(_ text: String) -> [String] {
        let marked = [",", ";"].reduce(text) { $0.replacing("\($1)http", with: " http") }
        return marked.split(whereSeparator: { $0 == " " || $0 == "|" }).map { part in
            part.last == "," || part.last == ";" ? String(part.dropLast()) : String(part)
        }
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
