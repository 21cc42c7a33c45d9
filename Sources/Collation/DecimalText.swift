/// Texts whose numbers ICU can compare by value.
///
/// ICU compares the digits on both sides of a decimal mark as whole numbers, so that 0.5 comes before 0.33. With as many decimals in each number
/// they compare by value. Whole numbers get decimals, too: `1l` would come after `1.5l` otherwise, because letters follow punctuation.
/// Numbers with more than six decimals compare as ICU compares them.
enum DecimalText {
    /// The number of the rules below. Keys of different rules are not comparable.
    static let version = 1

    /// The number of decimals to which shorter ones are extended.
    private static let decimals = 6

    /// Returns a text with a decimal point and at least six decimals in each number; `1,5` and `1.5` become equal.
    ///
    /// Digits with several marks, such as dates and thousands, are not numbers, and stay as they are.
    ///
    /// - Complexity: O(*n*).
    static func prepared(_ text: String) -> String {
        guard text.utf8.contains(where: isDigit) else { return text }
        var prepared: [UInt8] = []
        prepared.reserveCapacity(text.utf8.count + 16)
        let bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            guard isDigit(bytes[index]) else {
                prepared.append(bytes[index])
                index += 1
                continue
            }
            let start = index
            var marks: [Int] = []
            index = endOfDigits(bytes, from: index)
            while index + 1 < bytes.count, isMark(bytes[index]), isDigit(bytes[index + 1]) {
                marks.append(index)
                index = endOfDigits(bytes, from: index + 1)
            }
            if marks.count > 1 {
                prepared += bytes[start..<index]
                continue
            }
            let whole = marks.first ?? index
            prepared += bytes[start..<whole]
            prepared.append(UInt8(ascii: "."))
            let fraction = bytes[min(whole + 1, index)..<index]
            prepared += fraction
            prepared += repeatElement(UInt8(ascii: "0"), count: max(0, decimals - fraction.count))
        }
        return String(decoding: prepared, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",") }

    private static func endOfDigits(_ bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
    }
}
