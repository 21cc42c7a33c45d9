import Catalog
import Testing

@Suite struct GTINTests {
    private static func number(_ text: String) throws -> GTIN { try GTIN(text, parameter: "barcode") }

    @Test(
        "A number has 14 digits, and is the same with and without zeros before it",
        arguments: [
            ("96385074", "00000096385074"), ("036000291452", "00036000291452"), ("0036000291452", "00036000291452"),
            ("4006381333931", "04006381333931"), ("04006381333931", "04006381333931"),
            ("10614141000415", "10614141000415"), ("00000000", "00000000000000"),
        ]
    )
    func digits(_ text: String, _ digits: String) throws {
        #expect(try Self.number(text).digits == digits)
        #expect(try Self.number(text) == Self.number(digits))
    }

    @Test(
        "Its barcodes are those of all kinds that are long enough",
        arguments: [
            ("96385074", ["00000096385074", "0000096385074", "000096385074", "96385074"]),
            ("036000291452", ["00036000291452", "0036000291452", "036000291452"]),
            ("4006381333931", ["04006381333931", "4006381333931"]), ("10614141000415", ["10614141000415"]),
        ]
    )
    func barcodes(_ text: String, _ barcodes: [String]) throws {
        #expect(try Self.number(text).barcodes == barcodes)
        for barcode in barcodes { #expect(try Self.number(barcode) == Self.number(text)) }
    }

    @Test("Each other check digit is refused, with the right one")
    func checkDigits() {
        for (number, digit) in [
            ("9638507", 4), ("03600029145", 2), ("400638133393", 1), ("1061414100041", 5), ("400638133330", 6),
            ("0000000", 0),
        ] {
            for other in 0...9 where other != digit {
                let error = #expect(throws: CatalogError.self) { try Self.number("\(number)\(other)") }
                guard case .malformed("barcode", let detail, _, _)? = error else {
                    Issue.record("unexpected \(String(describing: error))")
                    continue
                }
                #expect(detail.contains("must be \(digit);"))
            }
        }
    }

    @Test(
        "Other lengths and characters are refused",
        arguments: [
            "", "1", "1234567", "123456789", "12345678901", "123456789012345", "4006381 33931", "４００６３８１３３３９３１",
            "-4006381",
        ]
    )
    func otherTexts(_ text: String) {
        let error = #expect(throws: CatalogError.self) { try Self.number(text) }
        guard case .malformed("barcode", let detail, _, _)? = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(detail.hasPrefix("barcode must have 8, 12, 13 or 14 digits"))
    }
}
