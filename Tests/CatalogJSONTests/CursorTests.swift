import Catalog
import CatalogJSON
import Testing

@Suite(.timeLimit(.minutes(15))) struct CursorTests {
    private let codec = CursorCodec { bytes in
        // A stand-in for a keyed hash: long enough, and dependent on every byte.
        var hash = FNV64()
        hash.combine(bytes.map(String.init).joined(separator: ","))
        return (0..<16).map {
            UInt8(truncatingIfNeeded: (hash.value &* 0x9E37_79B9_7F4A_7C15 &+ UInt64($0)) >> UInt64($0))
        }
    }

    private let cursor = Cursor(
        scope: "products/s/dairy",
        sort: "-unit_price,brand",
        source: .shelf,
        dimension: .piece,
        isSoldOut: true,
        values: [
            .unitPrice(.dose, digits: "1.000000000000000000000000000000001"), .missing, .integer(.min),
            .real(-.infinity), .text("žółć 🍎"), .bytes([0, 255]),
        ],
        name: "Ärla",
        id: "a \"b\""
    )

    @Test("A cursor survives encoding and decoding")
    func roundTrips() throws {
        #expect(try codec.decode(codec.encode(cursor)) == cursor)
    }

    @Test("A cursor by attributes survives encoding and decoding, and others are as they were")
    func attributes() throws {
        var other = cursor
        other.attributes = "1a2b 3c"
        let parts: [(Int128, Int128)] = [(1, 3), (-5, 7), (0, 1), (-(1 << 90), (1 << 100) + 1)]
        other.values = parts.compactMap { AttributeFraction($0, over: $1).map { .fraction($0) } }
        #expect(other.values.count == 4)
        #expect(try codec.decode(codec.encode(other)) == other)
        // The longest values: four texts of attributes, a name, and a filter.
        other.values =
            (0..<4).map { .text("\($0)" + String(repeating: "x", count: 499)) } + [
                .text(String(repeating: "b", count: 200))
            ]
        (other.name, other.filter) = (String(repeating: "n", count: 500), String(repeating: "f", count: 4096))
        #expect(try codec.decode(codec.encode(other)) == other)
    }

    @Test("A cursor of collapsed groups survives encoding and decoding, also with a search and attributes")
    func groups() throws {
        var other = cursor
        other.collapsesGroups = true
        #expect(try codec.decode(codec.encode(other)) == other)
        #expect(codec.encode(other) != codec.encode(cursor))
        other.attributes = "1a2b"
        #expect(try codec.decode(codec.encode(other)) == other)
        other.search = Cursor.Search(try SearchText("milk"), .prefix)
        #expect(try codec.decode(codec.encode(other)) == other)
    }

    @Test("A cursor with any altered character is rejected")
    func rejectsAlteredCharacters() {
        let text = Array(codec.encode(cursor))
        for index in text.indices {
            for replacement in ["A", "B", "_", "=", "+"] as [Character] where replacement != text[index] {
                var altered = text
                altered[index] = replacement
                #expect(throws: CatalogError.invalidCursor) { try codec.decode(String(altered)) }
            }
            #expect(throws: CatalogError.invalidCursor) { try codec.decode(String(text[..<index])) }
        }
    }

    @Test(
        "An invalid cursor is rejected",
        arguments: ["", "A", "====", "é", String(repeating: "A", count: 100_000), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
    )
    func rejectsInvalidCursors(_ text: String) {
        #expect(throws: CatalogError.invalidCursor) { try codec.decode(text) }
    }

    @Test("Only canonical Base64 is accepted")
    func base64IsCanonical() {
        #expect(Base64URL.decode("AA") == [0])
        #expect(Base64URL.decode("AB") == nil)
        for count in 0..<50 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct SortTests {
    @Test(
        "A sort's description is the text that it was parsed from",
        arguments: ["price", "-price,name", "unit_price,-brand,tags", "position", "position,price"]
    )
    func sortRoundTrips(_ text: String) throws { #expect(try Sort.parse(text).description == text) }

    @Test("The tie-breaker follows the direction of the first key")
    func tieBreakerFollowsFirstKey() throws {
        #expect(try Sort.parse("price").tieBreakerDirection == .ascending)
        #expect(try Sort.parse("-price").tieBreakerDirection == .descending)
        #expect(try Sort.parse("-popularity").tieBreakerDirection == .ascending)
        #expect(try Sort.parse("popularity").tieBreakerDirection == .descending)
    }

    @Test(
        "A text that is not a sort is rejected",
        arguments: [
            "", ",", "price,", "-", "--price", "Price", "price,-price", "price name", "-position", "po\u{301}sition",
        ]
    )
    func rejectsInvalidSorts(_ text: String) { #expect(throws: SortError.self) { try Sort.parse(text) } }

    @Test(
        "Decimals are parsed and written exactly",
        arguments: [
            ("0", "0"), ("0.50", "0.5"), ("-1.20", "-1.2"), ("100", "100"),
            ("0.00000000000000000000000000000000001", "0.00000000000000000000000000000000001"),
        ]
    )
    func decimalsAreExact(_ text: String, _ written: String) { #expect(ExactDecimal(text)?.description == written) }

    @Test(
        "A text that is not a decimal is rejected",
        arguments: [
            "", ".", "1.", ".5", "1,5", "1e3", "+1", "0x1", "NaN", "1.2.3", " 1", String(repeating: "9", count: 37),
        ]
    )
    func rejectsInvalidDecimals(_ text: String) { #expect(ExactDecimal(text) == nil) }

    @Test(
        "Prices are rounded half up, and the rounding is reported",
        arguments: [
            ("EUR", "4.589", Int64(459), true), ("EUR", "4.585", 459, true), ("JPY", "198", 198, false),
            ("KWD", "1.2345", 1235, true), ("EUR", "0", 0, false),
        ]
    )
    func roundsPricesHalfUp(_ currency: String, _ amount: String, _ minor: Int64, _ wasRounded: Bool) {
        let price = Currency(currency)!.minorUnits(ExactDecimal(amount)!)
        #expect(price?.minor == minor)
        #expect(price?.wasRounded == wasRounded)
    }

    @Test("Timestamps are written in UTC")
    func writesTimestampsInUTC() {
        #expect(Timestamp(microseconds: 1_772_357_400_250_000).rfc3339 == "2026-03-01T09:30:00.25Z")
        #expect(Timestamp(microseconds: -1).rfc3339 == "1969-12-31T23:59:59.999999Z")
        #expect(Timestamp.date(ofDay: 19782) == "2024-02-29")
    }
}
