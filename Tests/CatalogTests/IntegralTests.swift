import Catalog
import Testing

struct IntegralTests {
    @Test(
        "An integer may have a sign and a fraction of zero",
        arguments: [
            ("24", 24), ("24.0", 24), ("-24.000", -24), ("+24", 24), ("0.0", 0), ("9223372036854775807.0", Int64.max),
            ("-9223372036854775808", .min),
        ]
    )
    func integersAreParsed(text: String, value: Int64) { #expect(Int64(integral: text) == value) }

    @Test(
        "Another number is not an integer",
        arguments: ["", "1.5", "1e2", "24.", ".0", "9223372036854775808", "9223372036854775808.0", "x"]
    )
    func otherNumbersAreRejected(text: String) { #expect(Int64(integral: text) == nil) }
}
