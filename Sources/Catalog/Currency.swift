/// An ISO 4217 currency code and how many decimals its minor unit has.
package struct Currency: Hashable, Sendable {
    package let code: String

    /// - Returns: nil unless the code is three capital ASCII letters.
    package init?(_ code: String) {
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (65...90).contains($0) }) else { return nil }
        self.code = code
    }

    /// The number of decimals of the minor unit.
    ///
    /// Source: ISO 4217, list one.
    package var exponent: Int {
        switch code {
        case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
            "XOF", "XPF":
            0
        case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND": 3
        default: 2
        }
    }

    /// An amount in minor units, from a decimal in the currency; rounded half up where it has more decimals.
    ///
    /// - Returns: nil where it is negative or out of bounds (`Product.priceBound`).
    package func minorUnits(_ amount: ExactDecimal) -> (minor: Int64, wasRounded: Bool)? {
        let rounded = amount.rounded(toScale: exponent)
        guard !rounded.isNegative, let minor = rounded.significand(atScale: exponent), minor < Product.priceBound else {
            return nil
        }
        return (Int64(minor), rounded != amount)
    }

    /// An amount of minor units as a decimal with all its decimals, such as `0.99`.
    package func decimal(_ minor: Int64) -> String { ExactDecimal.digits(Int128(minor), scale: exponent) }
}
