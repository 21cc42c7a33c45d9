import Catalog
import Testing

@testable import CatalogImport

/// Amounts of money taken apart, and read by what their column shows.
@Suite struct PriceTextTests {
    @Test(
        "The last mark of a number precedes decimals or separates thousands",
        arguments: [
            ("5", .whole(thousands: nil), "5"), ("1.99", .decimals(.point, count: 2), "1.99"),
            ("1,9", .decimals(.comma, count: 1), "1.9"), ("1,2345", .decimals(.comma, count: 4), "1.2345"),
            ("0.234", .decimals(.point, count: 3), "0.234"), ("01,234", .decimals(.comma, count: 3), "1.234"),
            ("1234.567", .decimals(.point, count: 3), "1234.567"), ("1.234", .ambiguous(.point), "1.234"),
            ("12,345", .ambiguous(.comma), "12.345"), ("123.456", .ambiguous(.point), "123.456"),
            ("1.234.567", .whole(thousands: .point), "1234567"), ("12,345,678", .whole(thousands: .comma), "12345678"),
            ("1'234", .whole(thousands: nil), "1234"), ("1’234ʼ567", .whole(thousands: nil), "1234567"),
            ("1 234", .whole(thousands: nil), "1234"), ("1\u{A0}234\u{202F}567", .whole(thousands: nil), "1234567"),
            ("1'234.50", .decimals(.point, count: 2), "1234.5"),
            ("1\u{2009}234,5", .decimals(.comma, count: 1), "1234.5"),
            ("1,234.5", .decimals(.point, count: 1), "1234.5"),
            ("1.234.567,891", .decimals(.comma, count: 3), "1234567.891"),
            (".99", .decimals(.point, count: 2), "0.99"), (",5", .decimals(.comma, count: 1), "0.5"),
            ("4.", .decimals(.point, count: 0), "4"), ("5,-", .decimals(.comma, count: 0), "5"),
            ("5.–", .decimals(.point, count: 0), "5"), ("1.234,—", .decimals(.comma, count: 0), "1234"),
        ] as [(String, PriceText.Form, String)]
    )
    func forms(_ text: String, _ form: PriceText.Form, _ amount: String) throws {
        let price = try #require(PriceText(text))
        #expect(price.form == form)
        #expect(price.amount(readingAsDecimals: true)?.description == amount)
        #expect(price.currency == "")
        #expect(!price.isNegative)
        let negative = try #require(PriceText("-" + text))
        #expect(negative.isNegative)
        #expect(negative.amount(readingAsDecimals: true)?.description == "-" + amount)
    }

    @Test("An ambiguous number is read as decimals or as thousands")
    func ambiguous() throws {
        for (text, thousands) in [("1.234", "1234"), ("-12,345", "-12345")] {
            #expect(PriceText(text)?.amount(readingAsDecimals: false)?.description == thousands)
        }
        #expect(PriceText("1.99")?.amount(readingAsDecimals: false)?.description == "1.99")
        #expect(PriceText(String(repeating: "1", count: 36))?.amount(readingAsDecimals: true) != nil)
        #expect(PriceText(String(repeating: "1", count: 37))?.amount(readingAsDecimals: true) == nil)
    }

    @Test(
        "Other text is rejected",
        arguments: [
            "", "abc", "€", "1.23.456", "1234.567.890", "1,23,456", "1 23", "12'34", "1.234,567.8", "1,234.567,8",
            "1 234'567",
            "1-2", "1/2", "1 EUR 2", "EUR 1 EUR", "+-1", "--1", "1.234.56", "1'2345",
        ]
    )
    func otherTexts(_ text: String) { #expect(PriceText(text) == nil) }

    @Test(
        "The rest of a text is its currency",
        arguments: [
            ("€ 1.99", "€", "EUR", "1.99"), ("1,99\u{A0}€", "€", "EUR", "1.99"), ("eur1.99", "eur", "EUR", "1.99"),
            ("1.99 USD", "USD", "USD", "1.99"), ("$ 5", "$", nil, "5"), ("5,- zł", "zł", "PLN", "5"),
            ("5 Kč", "Kč", "CZK", "5"), ("10 kr", "kr", nil, "10"), ("Fr.4", "Fr.", nil, "4"),
            ("€.99", "€", "EUR", "0.99"),
            ("4.kg", ".kg", nil, "4"), ("-€5", "€", "EUR", "-5"), ("€ −5", "€", "EUR", "-5"), ("+5 £", "£", nil, "5"),
            ("5 doubloons", "doubloons", nil, "5"),
        ] as [(String, String, String?, String)]
    )
    func currencies(_ text: String, _ currency: String, _ code: String?, _ amount: String) throws {
        let price = try #require(PriceText(text))
        #expect(price.currency == currency)
        #expect(price.namedCurrency?.code == code)
        #expect(price.amount(readingAsDecimals: true)?.description == amount)
    }

    @Test("Prices are equal if all their parts are")
    func equality() {
        #expect(PriceText("1.99 €") == PriceText("1.99€"))
        for other in ["1,99 €", "-1.99 €", "1.98 €", "2.99 €", "1.99 $", "1.99"] {
            #expect(PriceText("1.99 €") != PriceText(other), "\(other)")
        }
    }

    @Test("A currency has its code and its signs, in any case and with a point")
    func names() throws {
        for (code, name, isNamed) in [
            ("EUR", "eur", true), ("EUR", "Euro", true), ("EUR", "€", true), ("EUR", "$", false), ("USD", "$", true),
            ("CAD", "$", true), ("SEK", "Kr.", true), ("DKK", "kr", true), ("EUR", "kr", false), ("HUF", "Ft", true),
            ("HUF", "ft.", true), ("RUB", "руб.", true), ("EUR", "", false), ("EUR", ".", false), ("JPY", "¥", true),
        ] {
            #expect(try #require(Currency(code)).isNamed(name) == isNamed, "\(code) \(name)")
        }
    }

    // MARK: - Columns

    private func evidence(_ values: [String], _ given: DecimalMark? = nil) -> DecimalEvidence {
        var evidence = DecimalEvidence(given)
        for value in values { evidence.add(value) }
        return evidence
    }

    @Test("A column shows its decimal mark only if all of its decimals have the same one")
    func marks() {
        for (values, mark) in [
            ([], nil), (["5", "x", ""], nil), (["1.234"], nil), (["1.234.567"], nil), (["5."], nil), (["5,-"], nil),
            (["1.9"], .point), (["1,9"], .comma), (["5", "1.99 €"], .point), (["1.9", "1,9"], nil),
            (["1.234,5"], .comma), (["1,234.5"], .point),
        ] as [([String], DecimalMark?)] {
            #expect(evidence(values).mark == mark, "\(values)")
            #expect(evidence(values, .comma).mark == .comma)
            #expect(evidence(values, .point).mark == .point)
        }
    }

    @Test(
        "Three digits after a mark are decimals or thousands as the column, the currency or an option shows",
        arguments: [
            ([], nil, "1.234", "EUR", nil), ([], nil, "1.234", "KWD", "1.234"), ([], nil, "1,234", "KWD", nil),
            (["1.5"], nil, "1.234", "EUR", nil), (["1.5"], nil, "1.234", "KWD", "1.234"),
            (["1,5"], nil, "1,234", "KWD", "1.234"), (["1.5", "1.55"], nil, "1.234", "EUR", "1.234"),
            (["1,5", "1,55"], nil, "1,234", "EUR", "1.234"), (["1.5", "2.5"], nil, "1.234", "EUR", nil),
            (["1,5"], nil, "1.234", "EUR", "1234"), (["1.5"], nil, "1,234", "EUR", "1234"),
            (["1.234.567"], nil, "1.234", "EUR", "1234"), (["1.234.567"], nil, "1,234", "EUR", nil),
            (["1.5", "1.55", "1.234.567"], nil, "1.234", "EUR", nil),
            (["1.5", "1.55", "1,5"], nil, "1.234", "EUR", nil),
            ([], .point, "1.234", "EUR", "1.234"), ([], .comma, "1.234", "EUR", "1234"),
            ([], .comma, "1,234", "EUR", "1.234"), ([], .point, "1,234", "EUR", "1234"),
            (
                ["1." + String(repeating: "1", count: 64), "1." + String(repeating: "1", count: 70)], nil, "1.234",
                "EUR", nil
            ),
        ] as [([String], DecimalMark?, String, String, String?)]
    )
    func threeDigits(
        _ values: [String],
        _ given: DecimalMark?,
        _ text: String,
        _ code: String,
        _ expected: String?
    ) throws {
        let currency = try #require(Currency(code))
        do throws(DecimalEvidence.Fault) {
            let amount = try evidence(values, given).amount(text, in: currency)
            #expect(amount.description == expected)
        } catch {
            #expect(expected == nil)
            #expect(error.reason.hasPrefix("is ambiguous: decimals or thousands; set the decimal mark"))
        }
    }

    @Test(
        "An amount is read, or the reason is reported",
        arguments: [
            (nil, "1.99", "1.99"), (nil, "1.2345", "1.2345"), (nil, "12", "12"), (nil, "1,99", "1.99"),
            (nil, "1.99 eur", "1.99"), (nil, "1.234.567", "1234567"), (nil, "5.", "5"), (nil, "-1.99", "-1.99"),
            (.point, "1.99", "1.99"),
            (.point, "1,99", "does not have a decimal point, the mark of the file; correct it"),
            (.point, "1.234.567", "does not have a decimal point, the mark of the file; correct it"),
            (.point, "1,234,567", "1234567"), (.point, "1'234", "1234"), (.point, "5,-", "5"),
            (.comma, "1,99", "1.99"),
            (.comma, "1.99", "does not have a decimal comma, the mark of the file; correct it"),
            (.comma, "1,234,567", "does not have a decimal comma, the mark of the file; correct it"),
            (.comma, "1.234.567", "1234567"), (.comma, "5.", "5"), (.comma, "12", "12"),
            (nil, "1.99 $", "is not in EUR, the store's currency; convert it, or remove the row"),
            (nil, "two", "is not an amount such as 1.99 or 1,99"),
            (nil, "1..2", "is not an amount such as 1.99 or 1,99"),
            (nil, "1e5", "is in scientific notation, which drops digits; write the digits, such as 1.99"),
            (nil, "1,5E+3", "is in scientific notation, which drops digits; write the digits, such as 1.99"),
            (nil, "1.5 each", "is not in EUR, the store's currency; convert it, or remove the row"),
            (nil, "inf", "is not an amount such as 1.99 or 1,99"),
            (nil, String(repeating: "9", count: 37), "is not an amount such as 1.99 or 1,99"),
        ] as [(DecimalMark?, String, String)]
    )
    func amounts(_ given: DecimalMark?, _ text: String, _ expected: String) throws {
        let euro = try #require(Currency("EUR"))
        do throws(DecimalEvidence.Fault) {
            let amount = try DecimalEvidence(given).amount(text, in: euro)
            #expect(amount.description == expected)
        } catch {
            #expect(error.reason == expected)
        }
    }

    @Test(
        "A number of JSON is written without its exponent, unless it would be too long",
        arguments: [
            ("12", "12"), ("1.50", "1.50"), ("4.2e0", "4.2"), ("42E-1", "4.2"), ("1e3", "1000"), ("-1.5e2", "-150"),
            ("1.25e1", "12.5"), ("1.5e-2", "0.015"), ("10e-1", "1"), ("1.5E+1", "15"), ("0e9", "0"),
            ("1e36", "1" + String(repeating: "0", count: 36)), ("1e37", "1e37"),
            ("1e-40", "0." + String(repeating: "0", count: 39) + "1"), ("1e-41", "1e-41"),
            ("999e36", "999e36"), ("1e99999999999999999999", "1e99999999999999999999"),
        ]
    )
    func jsonNumbers(_ text: String, _ expected: String) { #expect(ExactDecimal.plain(jsonNumber: text) == expected) }
}
