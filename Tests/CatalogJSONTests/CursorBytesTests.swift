import Catalog
import CatalogJSON
import Testing

/// The bytes of cursors, and bytes with a right MAC that no encoder writes.
@Suite("Bytes of cursors") struct CursorBytesTests {
    /// More bytes than a cursor has of a MAC.
    private static let mac = [UInt8](1...20)
    private static let codec = CursorCodec { _ in mac }

    private static func cursor(name: String = "N", id: String = "id", values: [SortValue] = []) -> Cursor {
        Cursor(
            scope: "s/x",
            sort: "-price,name",
            source: .shelf,
            filter: "in_stock=true",
            filterSource: .user,
            dimension: .length,
            isSoldOut: true,
            keyGeneration: -2,
            values: values,
            name: name,
            id: id
        )
    }

    @Test("A cursor has the fields in their order, and 16 bytes of its MAC")
    func bytes() throws {
        let cursor = Self.cursor(values: [
            .missing, .integer(-258), .real(1.5), .unitPrice(.volume, digits: "1.25"), .text("é"), .bytes([0, 255]),
        ])
        let text = """
            AgADcy94AAstcHJpY2UsbmFtZQIADWluX3N0b2NrPXRydWUBAwH__________gYAAf________7-Aj_4AAAAAAAAAwEABDEuMjUE\
            AALDqQUAAgD_AAFOAAJpZAECAwQFBgcICQoLDA0ODxA
            """
        #expect(Self.codec.encode(cursor) == text)
        #expect(try Self.codec.decode(text) == cursor)
    }

    @Test("Texts of more than 255 bytes are kept, and those of more than 65,535 bytes are cut")
    func longTexts() throws {
        let long = Self.cursor(name: String(repeating: "é", count: 300))
        #expect(try Self.codec.decode(Self.codec.encode(long)) == long)
        func size(_ count: Int) -> Int {
            Base64URL.decode(Self.codec.encode(Self.cursor(name: String(repeating: "x", count: count))))?.count ?? 0
        }
        let empty = size(0)
        #expect(size(65_535) == empty + 65_535)
        #expect(size(65_536) == empty + 65_535)
    }

    @Test("A cursor of up to 12,288 characters is read")
    func lengths() throws {
        let rest = 12288 * 3 / 4 - (Base64URL.decode(Self.codec.encode(Self.cursor(name: "")))?.count ?? 0)
        let longest = Self.codec.encode(Self.cursor(name: String(repeating: "x", count: rest)))
        #expect(longest.utf8.count == 12288)
        #expect(try Self.codec.decode(longest).name.utf8.count == rest)
        let longer = Self.codec.encode(Self.cursor(name: String(repeating: "x", count: rest + 1)))
        #expect(throws: CatalogError.invalidCursor) { try Self.codec.decode(longer) }
    }

    /// The bytes before the values: a scope, a sort, a filter and numbers.
    private static func head(
        version: UInt8 = 2,
        source: UInt8 = 5,
        filterSource: UInt8 = 1,
        dimension: UInt8 = 5,
        soldOut: UInt8 = 1,
        values: UInt8 = 0
    ) -> [UInt8] {
        [version, 0, 1, 115, 0, 1, 112, source, 0, 0, filterSource, dimension, soldOut, 0, 0, 0, 0, 0, 0, 0, 9, values]
    }

    private static func decode(_ bytes: [UInt8]) throws -> Cursor {
        try codec.decode(Base64URL.encode(bytes + mac.prefix(16)))
    }

    @Test("Numbers up to the last case are read, and the number of a key generation")
    func numbers() throws {
        let cursor = try Self.decode(Self.head() + [0, 1, 110, 0, 1, 105])
        #expect(
            cursor
                == Cursor(
                    scope: "s",
                    sort: "p",
                    source: .search,
                    filterSource: .user,
                    dimension: .dose,
                    isSoldOut: true,
                    keyGeneration: 9,
                    name: "n",
                    id: "i"
                )
        )
        #expect(try !Self.decode(Self.head(soldOut: 0) + [0, 0, 0, 0]).isSoldOut)
        let price = try Self.decode(Self.head(values: 1) + [3, 5, 0, 1, 49, 0, 0, 0, 0])
        #expect(price.values == [.unitPrice(.dose, digits: "1")])
    }

    @Test(
        "Fields out of range, missing and surplus bytes are rejected, although the MAC is right",
        arguments: [
            (head(version: 1), [0, 0, 0, 0]), (head(version: 3), [0, 0, 0, 0]), (head(source: 6), [0, 0, 0, 0]),
            (head(filterSource: 2), [0, 0, 0, 0]), (head(dimension: 6), [0, 0, 0, 0]), (head(), [0, 0, 0, 0, 0]),
            (head(), [0, 0, 0]), (head(), [0, 0, 0, 2, 105]), (head(values: 1), [0, 0, 0, 0]),
            (head(values: 1), [6, 0, 0, 0, 0]), (head(values: 1), [3, 6, 0, 0, 0, 0, 0, 0]),
            (head(values: 1), [1, 0, 0, 0, 0, 0, 0, 0]), ([], []), ([2], []), ([2, 0, 1], [115]),
        ] as [([UInt8], [UInt8])]
    )
    func rejectsOtherBytes(_ head: [UInt8], _ rest: [UInt8]) {
        #expect(throws: CatalogError.invalidCursor) { try Self.decode(head + rest) }
    }

    @Test("A cursor of a search has a version of its own, with the class in use and the text")
    func searches() throws {
        var cursor = Self.cursor()
        cursor.search = Cursor.Search(try SearchText("oat  Milk"), .compound)
        let bytes = try #require(Base64URL.decode(Self.codec.encode(cursor)))
        #expect(bytes.first == 4)
        #expect(Array(bytes.dropLast(16).suffix(14)) == [0, 0, 1, 3, 0, 8] + Array("oat Milk".utf8))
        #expect(try Self.codec.decode(Self.codec.encode(cursor)) == cursor)
        cursor.attributes = "abc"
        #expect(try Self.codec.decode(Self.codec.encode(cursor)) == cursor)
    }

    @Test(
        "Another member, an unknown class, an invalid text and a missing or repeated member are rejected",
        arguments: [
            [], [3], [2, 2], [1], [1, 5, 0, 1, 97], [1, 0, 0, 1, 45], [1, 0, 0, 2, 97],
            [1, 0, 0, 1, 97, 1, 0, 0, 1, 97],
            [1, 0, 0, 1, 97, 0],
        ] as [[UInt8]]
    )
    func otherMembers(_ members: [UInt8]) {
        let start = Self.head(version: 4) + [0, 0, 0, 0, 0, 0]
        #expect(throws: CatalogError.invalidCursor) { try Self.decode(start + members) }
        #expect(throws: Never.self) { try Self.decode(start + [1, 0, 0, 1, 97]) }
    }

    @Test("A MAC that differs in one bit is rejected", arguments: [0, 7, 15])
    func comparesTheWholeMAC(_ place: Int) {
        var mac = Array(Self.mac.prefix(16))
        mac[place] ^= 1
        let text = Base64URL.encode(Self.head() + [0, 0, 0, 0] + mac)
        #expect(throws: CatalogError.invalidCursor) { try Self.codec.decode(text) }
    }

    @Test(
        "Base64 is that of the standard, for URLs",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"), ("~~~", "fn5-"),
            ("???", "Pz8_"),
        ]
    )
    func base64(_ plain: String, _ encoded: String) {
        #expect(Base64URL.encode(plain.utf8) == encoded)
        #expect(Base64URL.decode(encoded) == Array(plain.utf8))
    }

    @Test(
        "Another form of Base64 is rejected",
        arguments: [
            "A", "AAAAA", "Zg==", "Zh", "Zm9", "Zm+/", "Zm/v", "Zm 9v", "é", "Zm9v\n", "\u{0}AAA", "Zm9@", "Zm9[",
            "Zm9`", "Zm9{",
        ]
    )
    func otherBase64(_ text: String) { #expect(Base64URL.decode(text) == nil) }
}
