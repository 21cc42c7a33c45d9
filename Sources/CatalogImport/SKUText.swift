internal import Catalog

/// Checks for ids that a spreadsheet has rounded.
package enum SKUText {
    static let roundedReason = """
        is a number in scientific notation, as spreadsheets write long numbers, so its last digits are lost; format the \
        column as text
        """

    /// Whether an id is a number in scientific notation, such as `4.00633E+12`.
    static func isRounded(_ text: String) -> Bool {
        // Almost no id has this sign.
        guard text.utf8.contains(UInt8(ascii: "+")) else { return false }
        let parts = text.uppercased().split(separator: "E+", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].allSatisfy(\.isASCIIDigit) else { return false }
        let digits = parts[0].split(whereSeparator: { $0 == "." || $0 == "," })
        return (1...2).contains(digits.count) && parts[0].count <= 17
            && digits.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
    }

    /// Whether an id may have been rounded: at least 12 digits, of which the last six are zeros.
    package static func isSuspicious(_ text: String) -> Bool {
        text.utf8.count >= 12 && text.hasSuffix("000000") && text.allSatisfy(\.isASCIIDigit)
            && text.contains { $0 != "0" }
    }
}
