internal import Catalog

/// Skus, barcodes and sizes in the form in which searches compare them.
enum SearchCode {
    /// Returns a code without case, accents, width and white space. Punctuation and leading zeros stay.
    static func folded(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { folded(UnsafeRawBufferPointer($0)) }
    }

    /// Returns a code, given as UTF-8, without case, accents, width and white space.
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
        // The last character, if it is a letter, and its bytes in the code.
        var (letter, start) = (UInt32?.none, 0)
        func append(_ folded: UInt32) {
            guard let scalar = Unicode.Scalar(folded), !scalar.properties.isWhitespace else { return }
            start = code.count
            code.append(contentsOf: UTF8.encode(scalar)!)
        }
        CharacterFolding.shared.forEachRole(of: text) { role, _ in
            switch role.kind {
            case .accent:
                guard let composed = letter.flatMap({ CharacterFolding.composed($0, role.scalar) }) else { return }
                code.removeLast(code.count - start)
                append(composed)
                letter = composed
            case .letter:
                append(role.scalar)
                letter = role.scalar
            case .digit, .styledDigit, .separator, .apostrophe, .decimalMark:
                append(role.scalar)
                letter = nil
            case .invisible, .text: break
            }
        }
        return code
    }

    /// Returns the code of a size by its value, such as that of `0.33 l` and `330 ml`; nil for a size that no product can have.
    ///
    /// - Parameters:
    ///   - amount: the amount in each pack.
    ///   - packs: the number of packs; nil for the beginning that the codes with all numbers of packs have.
    static func size(_ amount: ExactDecimal, _ unit: MeasureUnit, packs: Int?) -> [UInt8]? {
        guard let quantity = amount.multiplied(by: unit.factor),
            let base = BaseQuantity(quantity, dimension: unit.dimension)
        else { return nil }
        return Array("\(base.dimension.ordinal) \(base.digits) \(packs.map { "\($0) " } ?? "")".utf8)
    }
}

/// The codes of rows in ascending order, to find the rows of a code or of its beginning.
struct SearchCodes: Sendable {
    /// The distinct codes.
    private let codes: TextColumn
    /// The rows of all codes, one code after another.
    private let rows: [UInt32]
    /// The end of each code's rows; empty if each code has one row.
    private let ends: [UInt32]

    /// - Parameter unsorted: the code of each row; empty without one.
    init(_ unsorted: TextColumn) {
        var order: [UInt32] = []
        order.reserveCapacity(unsorted.count)
        for row in 0..<unsorted.count where !unsorted[row].isEmpty { order.append(UInt32(row)) }
        RowOrder.sort(&order, by: unsorted)
        // The first row of each distinct code.
        let starts = order.indices.filter { index in
            index == 0 || TextColumn.compare(unsorted, Int(order[index - 1]), unsorted, Int(order[index])) != 0
        }
        codes = unsorted.gathered(starts.map { order[$0] })
        ends = starts.count == order.count ? [] : (starts.dropFirst() + [order.count]).map { UInt32($0) }
        // Copies the array to release its unused capacity.
        rows = order.map { $0 }
    }

    /// The size in memory, in bytes.
    var size: Int { codes.size + 4 * (rows.capacity + ends.capacity) }

    /// Calls a body with each row whose code begins with a text, and whether it has no more bytes.
    ///
    /// - Complexity: O(log *n* + *m*) for *m* rows.
    func forEachRow(beginningWith code: [UInt8], _ body: (UInt32, _ isEqual: Bool) -> Void) {
        var index = firstIndex(notBefore: code)
        while index < codes.count, codes[index].starts(with: code) {
            for row in rows(of: index) { body(row, codes[index].count == code.count) }
            index += 1
        }
    }

    /// Calls a body with each row that has a code.
    ///
    /// - Complexity: O(log *n* + *m*) for *m* rows.
    func forEachRow(of code: [UInt8], _ body: (UInt32) -> Void) {
        let index = firstIndex(notBefore: code)
        guard index < codes.count, codes.isEqual(index, code) else { return }
        for row in rows(of: index) { body(row) }
    }

    private func rows(of code: Int) -> ArraySlice<UInt32> { rows[ends.isEmpty ? code..<(code + 1) : ends.part(code)] }

    private func firstIndex(notBefore code: [UInt8]) -> Int {
        var (low, high) = (0, codes.count)
        while low < high {
            let middle = (low + high) / 2
            if codes.compare(middle, code) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
