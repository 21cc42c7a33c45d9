/// An ISO 4217 currency and the number of decimals of its minor unit.
package struct Currency: Hashable, Sendable {
    package let code: String

    /// - Returns: nil for a withdrawn code, or for a code without prices, such as metals and funds.
    package init?(_ code: String) {
        guard Self.codes.contains(code) else { return nil }
        self.code = code
    }

    /// Source: ISO 4217, list one, without metals, funds and test codes.
    private static let codes: Set<String> = Set(
        """
        AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP \
        CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR \
        ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT \
        MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD \
        SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES \
        VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
        """.split(separator: " ").map(String.init)
    )

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

    /// The number of minor units in one unit of the currency.
    package var unit: Int128 { (0..<exponent).reduce(1) { unit, _ in unit * 10 } }

    /// Converts a decimal amount to minor units, rounding half up.
    ///
    /// - Returns: nil for a negative amount, or one at or above `Product.priceLimit`.
    package func minorUnits(_ amount: ExactDecimal) -> (minor: Int64, wasRounded: Bool)? {
        let rounded = amount.rounded(toScale: exponent)
        guard !rounded.isNegative, let minor = rounded.significand(atScale: exponent), minor < Product.priceLimit else {
            return nil
        }
        return (Int64(minor), rounded != amount)
    }

    /// Formats minor units as a decimal with all its decimals, such as `0.99`.
    package func decimal(_ minor: Int64) -> String { ExactDecimal.digits(Int128(minor), scale: exponent) }
}
