/// Skus and barcodes in the form in which searches compare them.
enum SearchCode {
    /// Returns a code without case, accents, width and white space. Punctuation and leading zeros stay.
    static func folded(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { folded(UnsafeRawBufferPointer($0)) }
    }

    /// The same of UTF-8.
    static func folded(_ text: UnsafeRawBufferPointer) -> [UInt8] {
        var code: [UInt8] = []
        code.reserveCapacity(text.count)
        // Most codes are ASCII.
        if text.allSatisfy({ $0 < 0x80 }) {
            for byte in text where byte != 0x20 && !(0x09...0x0D).contains(byte) {
                code.append((0x41...0x5A).contains(byte) ? byte + 0x20 : byte)
            }
            return code
        }
        let folding = CharacterFolding.shared
        func append(_ scalar: UInt32) {
            guard let scalar = Unicode.Scalar(scalar), !scalar.properties.isWhitespace else { return }
            code.append(contentsOf: UTF8.encode(scalar)!)
        }
        func append(_ role: CharacterFolding.Role, _ scalar: UInt32) {
            switch role.kind {
            case .letter, .digit: append(role.scalar)
            case .accent, .invisible: break
            case .text: for part in folding.text(role) { append(folding.role(part), part) }
            case .separator, .apostrophe, .decimalMark: append(scalar)
            }
        }
        var index = 0
        while index < text.count {
            let (scalar, length) = FoldedText.scalar(text, at: index)
            append(folding.role(scalar), scalar)
            index += length
        }
        return code
    }

    /// Returns the form in which barcodes are compared: with 14 digits for an EAN-8, UPC-A, EAN-13 or GTIN-14, otherwise the code itself.
    ///
    /// Source: GS1 General Specifications, which store each GTIN in 14 digits, with leading zeros.
    static func barcode(_ code: [UInt8]) -> [UInt8] {
        guard [8, 12, 13, 14].contains(code.count), code.allSatisfy({ (0x30...0x39).contains($0) }) else { return code }
        return [UInt8](repeating: 0x30, count: 14 - code.count) + code
    }
}

/// The codes of rows in ascending order, to find the rows of a code or of its beginning.
struct SearchCodes: Sendable {
    private var codes = TextColumn()
    private var rows: [UInt32] = []

    init() {}

    /// - Parameter unsorted: the code of each row; empty without one.
    init(_ unsorted: TextColumn) {
        var order: [UInt32] = (0..<UInt32(unsorted.count)).filter { !unsorted[Int($0)].isEmpty }
        RowOrder.sort(&order, by: unsorted)
        codes = unsorted.gathered(order)
        rows = order
    }

    /// The size in memory, in bytes.
    var size: Int { codes.size + 4 * rows.capacity }

    /// Calls a body with each row whose code begins with a text, and whether it has no more bytes.
    ///
    /// - Complexity: O(log *n* + *m*) for *m* rows.
    func forEachRow(beginningWith code: [UInt8], _ body: (UInt32, _ isEqual: Bool) -> Void) {
        var place = firstPlace(notBefore: code)
        while place < rows.count, codes[place].starts(with: code) {
            body(rows[place], codes[place].count == code.count)
            place += 1
        }
    }

    /// Calls a body with each row that has a code.
    ///
    /// - Complexity: O(log *n* + *m*) for *m* rows.
    func forEachRow(of code: [UInt8], _ body: (UInt32) -> Void) {
        var place = firstPlace(notBefore: code)
        while place < rows.count, codes.isEqual(place, code) {
            body(rows[place])
            place += 1
        }
    }

    private func firstPlace(notBefore code: [UInt8]) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if codes.compare(middle, code) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
