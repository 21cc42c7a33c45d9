import Ordering
import Testing

@testable import Catalog

/// Values of the domain at the limits of their ranges.
@Suite(.timeLimit(.minutes(15))) struct ValueEdgeTests {
    // MARK: - Numbers

    @Test(
        "A decimal has digits, and optionally a sign and a point between digits",
        arguments: [
            ("0", "0"), ("-0", "0"), ("007", "7"), ("1.50", "1.5"), ("-1.05", "-1.05"), ("0.10", "0.1"),
            ("-0.5", "-0.5"),
            ("", nil), ("-", nil), (".5", nil), ("5.", nil), ("1.2.3", nil), ("+1", nil), ("1e3", nil), (" 1", nil),
            ("--1", nil),
            (String(repeating: "9", count: 36), String(repeating: "9", count: 36)),
            (String(repeating: "9", count: 37), nil),
            ("0." + String(repeating: "0", count: 34) + "1", "0." + String(repeating: "0", count: 34) + "1"),
        ] as [(String, String?)]
    )
    func decimals(_ text: String, _ expected: String?) { #expect(ExactDecimal(text)?.description == expected) }

    @Test("Decimals compare by value, whatever their scales are")
    func comparesDecimals() {
        let ascending = [
            "-1000000000000000000000", "-2", "-1.5", "-0.01", "0", "0.009", "0.01", "1.5", "2", "10",
            "1000000000000000000000",
        ]
        .map { ExactDecimal($0)! }
        // One of these cannot be written at the scale of the other.
        let tiny = [ExactDecimal(-1, scale: 36), ExactDecimal(1, scale: 36)]
        for (i, a) in ascending.enumerated() {
            for (j, b) in ascending.enumerated() {
                #expect((a < b) == (i < j) && (a == b) == (i == j))
            }
            #expect((a < tiny[1]) == (i <= 4) && (tiny[0] < a) == (i >= 4))
            #expect((tiny[1] < a) == (i > 4) && (a < tiny[0]) == (i < 4))
        }
    }

    @Test("Sums, products and scales are exact, or nil if they overflow")
    func arithmetic() {
        let (a, b) = (ExactDecimal("1.25")!, ExactDecimal("-0.5")!)
        #expect(a.adding(b) == ExactDecimal("0.75") && a.multiplied(by: b) == ExactDecimal("-0.625"))
        #expect(ExactDecimal("0.5")!.adding(ExactDecimal("0.5")!)!.scale == 0)
        #expect(
            a.significand(atScale: 2) == 125 && a.significand(atScale: 4) == 12_500 && a.significand(atScale: 1) == nil
        )
        let largest: Int128 = 100_000_000_000_000_000_000_000_000_000_000_000_000
        #expect(ExactDecimal(1).significand(atScale: 38) == largest)
        #expect(ExactDecimal(1).significand(atScale: 39) == nil)
        let large = ExactDecimal(Int128.max)
        #expect(large.adding(ExactDecimal(1)) == nil && large.multiplied(by: ExactDecimal(2)) == nil)
        #expect(large.adding(ExactDecimal(1, scale: 1)) == nil)
        #expect(ExactDecimal(0).isZero && !ExactDecimal(0).isNegative && ExactDecimal(-1, scale: 3).isNegative)
        #expect(ExactDecimal(100, scale: 1) == ExactDecimal(10) && ExactDecimal(100).scale == 0)
    }

    @Test("Half is rounded away from zero, and noise from 15 digits on is removed")
    func rounding() {
        for (text, scale, expected) in [
            ("1.005", 2, "1.01"), ("1.0049", 2, "1"), ("-1.005", 2, "-1.01"), ("-1.0049", 2, "-1"), ("1.5", 0, "2"),
            ("2.5", 0, "3"), ("1.49", 0, "1"), ("1.5", 1, "1.5"), ("1.5", 2, "1.5"), ("0.05", 1, "0.1"),
            ("9.99", 1, "10"),
        ] {
            #expect(ExactDecimal(text)!.rounded(toScale: scale).description == expected, "\(text)")
        }
        #expect(ExactDecimal("0.30000000000000004")!.withoutBinaryNoise.description == "0.3")
        #expect(ExactDecimal("12345.6789012345")!.withoutBinaryNoise.description == "12345.678901235", "15 digits")
        #expect(ExactDecimal("1234.5678901234")!.withoutBinaryNoise.description == "1234.5678901234", "14 digits")
        #expect(ExactDecimal("10000.0000000001")!.withoutBinaryNoise.description == "10000")
        #expect(ExactDecimal("-10000.0000000001")!.withoutBinaryNoise.description == "-10000")
        #expect(ExactDecimal.digits(5, scale: 3) == "0.005" && ExactDecimal.digits(1234, scale: 3) == "1.234")
        #expect(ExactDecimal.digits(-12, scale: 2) == "-0.12" && ExactDecimal.digits(0, scale: 2) == "0.00")
    }

    @Test("An integer may have a fraction of zero")
    func integrals() {
        #expect(Int64(integral: "24.0") == 24 && Int64(integral: "-5") == -5 && Int64(integral: "1.5") == nil)
        #expect(Int64(integral: "9223372036854775807.00") == .max && Int64(integral: "9223372036854775808.0") == nil)
    }

    @Test("Each unit has the factor that its definition states")
    func factors() {
        let factors: [MeasureUnit: (String, Dimension)] = [
            .mg: ("0.001", .mass), .g: ("1", .mass), .dag: ("10", .mass), .hg: ("100", .mass), .kg: ("1000", .mass),
            .t: ("1000000", .mass), .oz: ("28.349523125", .mass), .lb: ("453.59237", .mass), .ml: ("1", .volume),
            .cl: ("10", .volume), .dl: ("100", .volume), .l: ("1000", .volume), .hl: ("100000", .volume),
            .m3: ("1000000", .volume), .floz_us: ("29.5735295625", .volume), .pt_us: ("473.176473", .volume),
            .qt_us: ("946.352946", .volume), .gal_us: ("3785.411784", .volume), .floz_uk: ("28.4130625", .volume),
            .pt_uk: ("568.26125", .volume), .gal_uk: ("4546.09", .volume), .mm: ("0.001", .length),
            .cm: ("0.01", .length),
            .m: ("1", .length), .inch: ("0.0254", .length), .ft: ("0.3048", .length), .yd: ("0.9144", .length),
            .cm2: ("0.0001", .area), .m2: ("1", .area), .ft2: ("0.09290304", .area), .piece: ("1", .piece),
            .pair: ("2", .piece), .dozen: ("12", .piece), .hundred: ("100", .piece), .dose: ("1", .dose),
        ]
        #expect(Set(factors.keys) == Set(MeasureUnit.allCases))
        for (unit, (factor, dimension)) in factors {
            #expect(unit.factor.description == factor && unit.dimension == dimension, "\(unit)")
        }
        #expect(Dimension.allCases.map(\.ordinal) == Array(0..<6))
        #expect(Dimension.piece.groupOrder == [.piece, .mass, .volume, .length, .area, .dose])
    }

    @Test("A currency has the decimals of ISO 4217, and prices have limits")
    func currencies() throws {
        for (code, exponent) in [
            ("EUR", 2), ("JPY", 0), ("KWD", 3), ("ISK", 0), ("TND", 3), ("CLP", 0), ("HUF", 2), ("MRU", 2),
        ] {
            let currency = try #require(Currency(code))
            #expect(currency.exponent == exponent && currency.unit == [1, 10, 100, 1000][exponent])
        }
        for code in ["eur", "EURO", "HRK", "XAU", "", "XXX"] { #expect(Currency(code) == nil) }
        let (euro, yen) = (try #require(Currency("EUR")), try #require(Currency("JPY")))
        func minor(_ text: String, _ currency: Currency) -> String? {
            currency.minorUnits(ExactDecimal(text)!).map { "\($0.minor) \($0.wasRounded)" }
        }
        #expect(
            minor("1.5", euro) == "150 false" && minor("1.505", euro) == "151 true" && minor("1.5", yen) == "2 true"
        )
        #expect(minor("-0.004", euro) == "0 true" && minor("-0.005", euro) == nil)
        #expect(minor("9999999999.99", euro) == "999999999999 false" && minor("9999999999.995", euro) == nil)
        #expect(euro.decimal(5) == "0.05" && yen.decimal(5) == "5")
    }

    @Test("A size has a quantity in its range, and no negative part")
    func sizes() throws {
        func reason(_ amount: String, _ unit: MeasureUnit, packs: Int = 1, drained: String? = nil) -> SizeError? {
            do throws(SizeError) {
                _ = try Size(
                    amount: ExactDecimal(amount)!,
                    unit: unit,
                    packs: packs,
                    drained: drained.map { ExactDecimal($0)! }
                )
                return nil
            } catch { return error }
        }
        #expect(reason("1", .mg) == nil && reason("0.9", .mg) == .outOfRange)
        #expect(
            reason("1000", .t) == nil && reason("1000.001", .t) == .outOfRange
                && reason("500", .t, packs: 3) == .outOfRange
        )
        #expect(reason("1", .g, packs: 0) == .packs && reason("1", .g, packs: 1_000_000) == nil)
        #expect(reason("1", .g, packs: 1_000_001) == .packs && reason("-1", .g) == .negative)
        #expect(reason("1", .g, drained: "-1") == .negative && reason("1", .g, drained: "0.0001") == .outOfRange)
        #expect(reason("0.00000000000001", .kg) == .outOfRange && reason("1.00000000000001", .g) == nil)
        #expect(reason("1.000000000000001", .g) == .outOfRange, "15 decimals")
        #expect(try Size(amount: .zero, unit: .g, packs: 2) == nil)
        let size = try #require(try Size(amount: ExactDecimal(2), unit: .kg, packs: 3, drained: ExactDecimal("1.5")!))
        #expect(size.baseQuantity == ExactDecimal(4500))
        #expect(try Size(amount: ExactDecimal(2), unit: .kg, drained: .zero)?.baseQuantity == ExactDecimal(2000))
    }

    @Test("Quantities have 14 decimals and the range of sizes")
    func quantities() throws {
        #expect(BaseQuantity(ExactDecimal(1, scale: 3), dimension: .mass)?.digits == 100_000_000_000)
        #expect(BaseQuantity(ExactDecimal(9, scale: 4), dimension: .mass) == nil)
        #expect(BaseQuantity(ExactDecimal(1_000_000_000), dimension: .mass)?.decimal == ExactDecimal(1_000_000_000))
        #expect(BaseQuantity(ExactDecimal(1_000_000_001), dimension: .mass) == nil)
        #expect(BaseQuantity(ExactDecimal(-1), dimension: .mass) == nil)
        #expect(BaseQuantity(ExactDecimal(1, scale: 15), dimension: .mass) == nil)
        #expect(
            UnitPrice(priceMinor: 999_999_999_999, baseQuantity: BaseQuantity(ExactDecimal(1), dimension: .mass)) != nil
        )
        #expect(
            UnitPrice(priceMinor: 1_000_000_000_000, baseQuantity: BaseQuantity(ExactDecimal(1), dimension: .mass))
                == nil
        )
        #expect(UnitPrice(priceMinor: -1, baseQuantity: BaseQuantity(ExactDecimal(1), dimension: .mass)) == nil)
        #expect(UnitPrice(priceMinor: nil, size: nil) == nil && UnitPrice(priceMinor: 1, size: nil) == nil)
    }

    @Test("The sort key of a unit price has 33 decimals, rounded half up")
    func unitPriceKeys() throws {
        func price(_ minor: Int64, _ quantity: String) throws -> UnitPrice {
            let base = try #require(BaseQuantity(ExactDecimal(quantity)!, dimension: .mass))
            return try #require(UnitPrice(priceMinor: minor, baseQuantity: base))
        }
        #expect(try price(1, "1").key == "1." + String(repeating: "0", count: 33))
        #expect(try price(1, "3").key == "0." + String(repeating: "3", count: 33))
        #expect(try price(2, "3").key == "0." + String(repeating: "6", count: 32) + "7")
        #expect(try price(0, "3").key == "0." + String(repeating: "0", count: 33))
        #expect(try price(999_999_999_999, "0.001").key == "999999999999000." + String(repeating: "0", count: 33))
        #expect(try price(5, "8").key == "0.625" + String(repeating: "0", count: 30))
        #expect(try price(1, "3").isLess(than: price(2, "3")) && !price(2, "6").isLess(than: price(1, "3")))
        #expect(try price(2, "6").isEqual(to: price(1, "3")) && !price(2, "6").isEqual(to: price(1, "4")))
        #expect(try abs(price(1, "3").approximateValue - 1 / 3) < 1e-15)
        #expect(try abs(price(7, "1000000000").approximateValue - 7e-9) < 1e-23)
    }

    // MARK: - Times

    @Test("A day is that of UTC, also before 1970")
    func days() {
        let day: Int64 = 86_400_000_000
        for (microseconds, expected) in [(0, 0), (day - 1, 0), (day, 1), (-1, -1), (-day, -1), (-day - 1, -2)]
            as [(Int64, Int)]
        {
            #expect(Timestamp(microseconds: microseconds).day == expected)
        }
        for (day, text) in [
            (0, "1970-01-01"), (-1, "1969-12-31"), (59, "1970-03-01"), (11_016, "2000-02-29"), (18_262, "2020-01-01"),
        ] {
            #expect(Timestamp.date(ofDay: day) == text)
        }
        #expect(Timestamp.date(ofDay: -719_162) == "0001-01-01")
        #expect(Timestamp(microseconds: -1).rfc3339 == "1969-12-31T23:59:59.999999Z")
        #expect(Timestamp(microseconds: 100_000).rfc3339 == "1970-01-01T00:00:00.1Z")
        #expect(Timestamp(microseconds: 1) < Timestamp(microseconds: 2))
    }

    @Test("Work has a limit of seconds, and its request ten more")
    func timeLimits() {
        let limits: [(TimeLimit, Int)] = [
            (.lookup, 5), (.edit, 10), (.shelf, 30), (.bulk, 60), (.prices, 120), (.fold, 180), (.store, 300),
            (.maintenance, 600), (.night, 21_600),
        ]
        for (limit, seconds) in limits {
            #expect(limit.duration == .seconds(seconds) && limit.request == .seconds(seconds + 10))
        }
    }

    // MARK: - Texts

    @Test("White space at the ends is removed, in ASCII and beyond")
    func trims() {
        for (text, expected) in [
            ("", ""), ("a", "a"), (" a", "a"), ("a ", "a"), ("\t\n a b \r\n", "a b"), ("é ", "é"),
            ("\u{A0}é\u{3000}", "é"),
            ("   ", ""), ("\u{A0}", ""), ("a\u{2003}", "a"),
        ] {
            #expect(text.trimmed == expected)
        }
        #expect("a\u{7}b".visible == "a\u{FFFD}b" && "ab é".visible == "ab é")
    }

    @Test("Control characters, separators of lines and unassigned characters are not printable")
    func printable() {
        for text in ["", "a ~", "é", "\u{A0}", "\u{36F}", "Ж", "漢", "🍎", "\u{200D}", "\u{E000}"] {
            #expect(text.isPrintable, "\(text)")
        }
        for code in [0x0, 0x9, 0xA, 0x1F, 0x7F, 0x80, 0x9F, 0x2028, 0x2029, 0x378, 0xFFFF] as [UInt32] {
            #expect(!("a" + String(Unicode.Scalar(code)!)).isPrintable, "\(code)")
        }
        #expect(Character("0").isASCIIDigit && Character("9").isASCIIDigit)
        #expect(!Character("/").isASCIIDigit && !Character(":").isASCIIDigit && !Character("٣").isASCIIDigit)
    }

    @Test("A key has 1 to 64 characters of a to z, digits and hyphens, and does not begin with a hyphen")
    func keys() {
        let longest = String(repeating: "a", count: 64)
        for text in ["a", "0", "a-", "z9-a", longest] { #expect(CatalogKey(text)?.text == text) }
        for text in ["", "-a", "A", "a_b", "a b", "é", "{", "`", "/", ":", longest + "a"] {
            #expect(CatalogKey(text) == nil, "\(text)")
        }
        #expect(CatalogKey("a")! < CatalogKey("b")! && !(CatalogKey("b")! < CatalogKey("a")!))
    }

    @Test("An id of a product has up to 64 letters and 256 bytes")
    func skus() {
        for text in [
            "a", "a b", "...", ".a", String(repeating: "🍎", count: 64), String(repeating: "e\u{301}", count: 64),
        ] {
            #expect(SKU(text) != nil, "\(text)")
        }
        let wide = String(repeating: "👩‍👩‍👧", count: 15)
        #expect(wide.utf8.count == 270 && SKU(wide) == nil && SKU(String(repeating: "👩‍👩‍👧", count: 14)) != nil)
        for text in ["", ".", "..", "a/b", " a", "a ", "\u{A0}a", "a\u{1}", String(repeating: "a", count: 65)] {
            #expect(SKU(text) == nil, "\(text)")
        }
        // Swift calls these texts equal, and the database does not.
        let (a, b) = (SKU(stored: "\u{E9}"), SKU(stored: "e\u{301}"))
        #expect(a != b && Set([a, b]).count == 2 && b < a && !(a < b))
    }

    @Test("Users, settings, tags, images and languages have texts of their form")
    func texts() {
        let long = String(repeating: "a", count: 255)
        #expect(UserID(long) != nil && UserID(long + "a") == nil && UserID("") == nil && UserID("a\n") == nil)
        #expect(UserID("guest:1")!.isGuest && !UserID("guest")!.isGuest && !UserID("a guest:1")!.isGuest)
        #expect(UserID("\u{E9}") != UserID("e\u{301}"))
        #expect(SettingKey(long + "a") != nil && SettingKey(long + "ab") == nil && SettingKey("") == nil)
        for text in ["a/b", "a", "...", "a/.../b"] { #expect(SettingKey(text) != nil) }
        for text in ["/", "/a", "a/", "a//b", ".", "..", "a/./b", "../a", "a\n"] { #expect(SettingKey(text) == nil) }
        for (text, isSort) in [
            ("stores/a/sort", true), ("stores/a/shelves/b/sort", true), ("stores/A/sort", false),
            ("stores/a/sorts", false),
            ("store/a/sort", false), ("stores/a/shelf/b/sort", false), ("stores/a/shelves/B/sort", false),
            ("stores/sort", false),
            ("stores/a/b/sort", false), ("stores/a/shelves/b/c/sort", false), ("stores/a/shelves/b/order", false),
        ] {
            #expect(SettingKey(text)!.isSort == isSort, "\(text)")
        }
        let (a, b) = (CatalogKey("a")!, CatalogKey("b")!)
        #expect(
            SettingKey.sort(of: b, in: a).text == "stores/a/shelves/b/sort"
                && SettingKey.sort(in: a).text == "stores/a/sort"
        )
        for text in ["a", "a b", String(repeating: "t", count: 64), "é"] { #expect(Product.isTag(text)) }
        for text in ["", " a", "a ", "a|b", "a;b", "a\n", String(repeating: "t", count: 65)] {
            #expect(!Product.isTag(text))
        }
        for text in ["https://x", "HTTP://x", "/a"] { #expect(Product.isImageURL(text)) }
        for text in ["", "x", "ftp://x", "https:/x", "https://x y", "/a\u{A0}b", "https://x\n"] {
            #expect(!Product.isImageURL(text))
        }
        for text in ["en", "de-AT", "zh-Hant-TW", "root", "a1", "12345678-12345678-12345678-12345678"] {
            #expect(Store.isLanguageTag(text))
        }
        for text in [
            "a", "", "en_US", "en-", "-en", "en--us", "123456789", "ünter", "@@", "[[", "``", "{{", "//", "::",
        ] {
            #expect(!Store.isLanguageTag(text), "\(text)")
        }
        #expect(!Store.isLanguageTag("12345678-12345678-12345678-12345678-1"))
    }

    @Test("A UUID has hexadecimal digits and hyphens at their places, in any case")
    func uniqueIDs() {
        let text = "01234567-89ab-cdef-0123-456789abcdef"
        #expect(UniqueID(text)?.text == text && UniqueID(text.uppercased())?.text == text)
        for place in text.indices {
            for other in ["-", "g", "/", ":", "`", "@", "é", "0"] where other != String(text[place]) {
                let changed = text.replacingCharacter(at: place, with: other)
                let isHyphen = text[place] == "-"
                #expect((UniqueID(changed) != nil) == (other == "0" && !isHyphen), "\(changed)")
            }
        }
        #expect(UniqueID(text + "0") == nil && UniqueID(String(text.dropLast())) == nil)
        let custom = UniqueID.custom([UInt8](repeating: 0xFF, count: 16))
        #expect(custom.text == "ffffffff-ffff-8fff-bfff-ffffffffffff")
        #expect(UniqueID.custom([UInt8](repeating: 0, count: 16)).text == "00000000-0000-8000-8000-000000000000")
        let many = (0..<200).map { _ in UniqueID.random() }
        #expect(Set(many).count == 200)
        for id in many {
            let characters = Array(id.text)
            #expect(characters[14] == "4" && "89ab".contains(characters[19]) && UniqueID(id.text) == id)
        }
        #expect(([0, 10, 171, 255] as [UInt8]).hexadecimal == "000aabff" && [UInt8].random(600).count == 600)
        #expect(Set([UInt8].random(600)).count > 100)
    }

    @Test("Everything but unreserved characters is percent-encoded, and decoded again")
    func percentEncoding() {
        #expect(PercentEncoding.encode("azAZ09-._~") == "azAZ09-._~")
        #expect(PercentEncoding.encode("\n /@[`{é") == "%0A%20%2F%40%5B%60%7B%C3%A9")
        for (text, expected) in [
            ("a%20b", "a b"), ("%c3%A9", "é"), ("a+b", "a+b"), ("%", nil), ("%2", nil), ("%2g", nil), ("%g2", nil),
            ("%:0", nil),
            ("%00", nil), ("%FF", nil), ("%2F", "/"), ("%aF%aF", nil), ("%7a%7A", "zz"),
        ] as [(String, String?)] {
            #expect(PercentEncoding.decode(text.utf8) == expected, "\(text)")
        }
        #expect(PercentEncoding.decode("a+b%2B".utf8, plusIsSpace: true) == "a b+")
    }

    @Test("FNV-1a has its published values, and the ends of texts count")
    func fnv() {
        func hash(_ text: String) -> UInt64 {
            var hash = FNV64()
            hash.combine(text.utf8)
            return hash.value
        }
        #expect(
            hash("") == 0xcbf2_9ce4_8422_2325 && hash("a") == 0xaf63_dc4c_8601_ec8c
                && hash("foobar") == 0x8594_4171_f739_67e8
        )
        func texts(_ texts: [String]) -> UInt64 {
            var hash = FNV64()
            for text in texts { hash.combine(text) }
            return hash.value
        }
        #expect(texts(["ab", "c"]) != texts(["a", "bc"]) && texts(["a"]) != texts(["a", ""]))
    }

    // MARK: - Close words

    /// The number of edits by its definition, of the first letters of both words.
    private func edits(_ a: ArraySlice<Character>, _ b: ArraySlice<Character>) -> Int {
        guard let x = a.last, let y = b.last else { return max(a.count, b.count) }
        var least = min(
            edits(a.dropLast(), b) + 1,
            edits(a, b.dropLast()) + 1,
            edits(a.dropLast(), b.dropLast()) + (x == y ? 0 : 1)
        )
        if a.count > 1, b.count > 1, x == b.dropLast().last, y == a.dropLast().last {
            least = min(least, edits(a.dropLast(2), b.dropLast(2)) + 1)
        }
        return least
    }

    @Test("A word is close if at most a third of the letters differ, and the first of the closest counts")
    func closestWords() {
        var random = SeededGenerator(seed: 11)
        func word(_ lengths: ClosedRange<Int>) -> String {
            String((0..<Int.random(in: lengths, using: &random)).map { _ in "abc".randomElement(using: &random)! })
        }
        for _ in 0..<300 {
            let (given, candidate) = (word(1...4), word(0...5))
            let count = edits(Array(given)[...], Array(candidate)[...])
            let isClose = count <= max(1, candidate.count / 3)
            #expect(given.closest(among: [candidate]) == (isClose ? candidate : nil), "\(given) \(candidate)")
        }
        #expect("price".closest(among: ["prices", "price", "prize"]) == "price")
        #expect("pric".closest(among: ["prices", "price", "prick"]) == "price", "the first of those with one edit")
        #expect("pirce".closest(among: ["price"]) == "price" && "ba".closest(among: ["ab"]) == "ab")
        #expect(
            "".closest(among: ["a"]) == nil && "x".closest(among: [String]()) == nil
                && "abc".closest(among: ["xyz"]) == nil
        )
        #expect("abxyef".closest(among: ["abcdef"]) == "abcdef" && "abxye".closest(among: ["abcde"]) == nil)
        #expect("xyzdefghi".closest(among: ["abcdefghi"]) != nil && "wxyzefghi".closest(among: ["abcdefghi"]) == nil)
        let long = String(repeating: "a", count: 64)
        #expect(long.closest(among: [long + "b"]) == long + "b" && (long + "a").closest(among: [long]) == nil)
        #expect("unit_prices".dropLast(0).closest(among: ["unit_price"]) == "unit_price")
    }

    // MARK: - Clients, imports

    @Test("A client's network is written as an address")
    func clients() {
        #expect(Client.address([127, 0, 0, 1]).text == "127.0.0.1")
        #expect(Client.address([0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 1]).text == "2001:db8:0:1::/64")
        #expect(Client.user(UserID("a")!).text == nil && Client.local.text == nil)
        #expect(Client.local.isAnonymous && Client.address([]).isAnonymous && !Client.user(UserID("a")!).isAnonymous)
        #expect(Readiness.ready.allows(.writes) && Readiness.ready.allows(.reads))
        #expect(Readiness.readOnly.allows(.reads) && !Readiness.readOnly.allows(.writes))
        #expect(!Readiness.unavailable.allows(.reads) && !Readiness.unavailable.allows(.writes))
    }

    @Test("Long texts of a rejection are cut between characters")
    func rejections() {
        func cut(_ value: String) -> String? { ImportRejection(line: 1, value: value, reason: "").value }
        let exact = String(repeating: "a", count: 200)
        #expect(cut(exact) == exact && cut(exact + "b") == exact)
        #expect(cut(String(repeating: "a", count: 199) + "é") == String(repeating: "a", count: 199))
        #expect(cut(String(repeating: "a", count: 198) + "é") == String(repeating: "a", count: 198) + "é")
        let rejection = ImportRejection(line: 3, column: String(repeating: "c", count: 101), reason: "is wrong")
        #expect(rejection.description == "line 3, \(String(repeating: "c", count: 100)): is wrong")
        #expect(ImportRejection(line: 3, value: "x", reason: "is wrong").description == "line 3: “x” is wrong")
    }

    @Test("The share of rejected rows has a limit, and all rows are never rejected silently")
    func rejectedRows() {
        func isRefused(_ rejected: Int, _ read: Int, _ limit: String) -> Bool {
            do {
                try ImportOptions.checkRejected(rejected, of: read, limit: ExactDecimal(limit)!)
                return false
            } catch { return true }
        }
        #expect(!isRefused(0, 0, "0") && !isRefused(0, 1, "0") && isRefused(1, 1, "100") && isRefused(5, 5, "100"))
        #expect(
            !isRefused(5, 100, "5") && isRefused(6, 100, "5") && isRefused(1, 1000, "0.05")
                && !isRefused(1, 2000, "0.05")
        )
        #expect(!isRefused(99, 100, "100"))
    }
}

extension String {
    fileprivate func replacingCharacter(at place: Index, with text: String) -> String {
        String(self[..<place]) + text + String(self[index(after: place)...])
    }
}
