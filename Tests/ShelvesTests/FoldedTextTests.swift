import Catalog
import Collation
import Ordering
import Testing

@testable import Shelves

@Suite struct FoldedTextTests {
    private static func words(_ text: String) -> [String] {
        let folded = FoldedText(text)
        return folded.words.map { String(decoding: folded[$0], as: UTF8.self) }
    }

    @Test(
        "Case, accents, width, ligatures and special letters do not count",
        arguments: [
            ("", []), ("Milk", ["milk"]), ("ÄRLA Élan ČOKOLADA", ["arla", "elan", "cokolada"]),
            ("e\u{301}lan a\u{308}\u{301}b", ["elan", "ab"]), ("Straße STRASSE GROẞ", ["strasse", "strasse", "gross"]),
            ("Ærø Œuf smørrebrød", ["aero", "oeuf", "smorrebrod"]), ("Đumbir đak Ðak", ["dumbir", "dak", "dak"]),
            ("Łosoś ŁĄKA", ["losos", "laka"]), ("İz ız IZ", ["iz", "iz", "iz"]), ("þorsk Ħobż", ["thorsk", "hobz"]),
            ("ﬁsh oﬃce ĳs ǆem", ["fish", "office", "ijs", "dzem"]), ("ＷＩＤＥ ｶﾞ", ["wide", "カ\u{3099}"]),
            ("ΟΔΟΣ οδός οδος", ["οδοσ", "οδοσ", "οδοσ"]), ("ᾳ ΐ Ώ", ["α", "ι", "ω"]), ("Ёж ёж ЕЖ", ["еж", "еж", "еж"]),
            ("Йогурт йогурт и\u{306}огурт", ["йогурт", "йогурт", "йогурт"]), ("Їжа і\u{308}жа", ["їжа", "їжа"]),
            ("Ў у\u{306}", ["ў", "ў"]), ("мо\u{301}локо Ѓ Ќ", ["молоко", "г", "к"]), ("иогурт", ["иогурт"]),
            ("№5 ª º µm Å", ["no", "5", "a", "o", "μm", "a"]), ("㎏ Ⅻ ①", ["kg", "xii", "1"]),
            ("شَاي شاي", ["شاي", "شاي"]), ("한 \u{1112}\u{1161}\u{11AB} 하", ["한", "한", "하"].map(Self.jamo)),
            ("牛乳", ["牛乳"]), ("ꭰ Ꭰ", ["Ꭰ", "Ꭰ"]), ("𝕄ilk", ["milk"]), ("\u{2F800}", ["丽"]), ("हिन्दी", ["हिन्दी"]),
        ] as [(String, [String])]
    )
    func letters(_ text: String, _ expected: [String]) {
        // Strings that are canonically equivalent are equal in Swift, so the bytes are compared.
        #expect(Self.words(text).map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(Self.words(text))")
    }

    /// Returns the letters of syllables of Hangul.
    private static func jamo(_ text: String) -> String {
        ["한": "\u{1112}\u{1161}\u{11AB}", "하": "\u{1112}\u{1161}"][text] ?? text
    }

    @Test(
        "Letters and digits split, and numbers have one spelling for each value",
        arguments: [
            ("330ml", ["330", "ml"]), ("6x330ml", ["6", "x", "330", "ml"]), ("A4", ["a", "4"]), ("7UP", ["7", "up"]),
            ("1,5 1.5 1.50 01,500", ["1.5", "1.5", "1.5", "1.5"]), ("1.0 1 001 1,", ["1", "1", "1", "1"]),
            ("0,5 0.50 00.5 .5", ["0.5", "0.5", "0.5", "5"]), ("0 00 0.0", ["0", "0", "0"]),
            ("10 100 10.10", ["10", "100", "10.1"]), ("1,5l", ["1.5", "l"]), ("3,5%", ["3.5"]),
            ("12.05.2026", ["12", "5", "2026"]), ("1,000,000", ["1", "0", "0"]), ("1..2", ["1", "2"]),
            ("1.,2", ["1", "2"]), ("1. 2", ["1", "2"]), ("1,2,", ["1.2"]), ("Nr.5", ["nr", "5"]), ("1.a", ["1", "a"]),
            ("٣٫٥ ३ １．５", ["3.5", "3", "1.5"]), ("m² ½", ["m", "2", "1", "2"]),
            ("1\u{AD}5 1\u{301}5", ["15", "15"]), ("1'000", ["1", "0"]), ("5'er", ["5", "er"]),
            ("4006381333931", ["4006381333931"]), ("1½ l", ["1", "1", "2", "l"]),
            ("10² 1,5²", ["10", "2", "1.5", "2"]),
            ("½½ 1⅓4", ["1", "2", "1", "2", "1", "1", "3", "4"]), ("B₁₂ 10²³", ["b", "12", "10", "23"]),
            ("5⑫ ⑫⑬ ⒈5", ["5", "12", "12", "13", "1", "5"]), ("10.²", ["10", "2"]), ("２２", ["22"]),
        ] as [(String, [String])]
    )
    func numbers(_ text: String, _ expected: [String]) {
        #expect(Self.words(text) == expected)
        let folded = FoldedText(text)
        for word in folded.words { #expect(word.isNumber == (0x30...0x39).contains(folded[word].first!)) }
    }

    @Test(
        "Apostrophes and invisible characters join, and other signs separate",
        arguments: [
            ("O'Brien O’Brien OʼBrien O`Brien O´Brien", Array(repeating: "obrien", count: 5)),
            ("'n' rock'n'roll Lay's", ["n", "rocknroll", "lays"]),
            ("choco\u{AD}late zero\u{200B}width", ["chocolate", "zerowidth"]),
            ("a\u{200D}b \u{FEFF}c", ["ab", "c"]),
            ("uht-milk a/b c&d e_f", ["uht", "milk", "a", "b", "c", "d", "e", "f"]),
            ("natur*pur G.G.", ["natur", "pur", "g", "g"]), ("Kellogg's™ A®", ["kelloggs", "a"]),
            ("🍎Apple🍏 👩‍👩‍👧 1️⃣", ["apple", "1"]),
            ("a\u{0}b\tc\nd\u{A0}e\u{3000}f", ["a", "b", "c", "d", "e", "f"]), ("- ' . , 🍎 \u{301}", []),
            ("l·l", ["l", "l"]),
        ] as [(String, [String])]
    )
    func signs(_ text: String, _ expected: [String]) {
        #expect(Self.words(text) == expected)
    }

    @Test("Words have their places in UTF-16 units of the text")
    func places() {
        func parts(_ text: String) -> [String] { FoldedText(text).words.map { text.utf16Part($0.source) } }
        #expect(parts("🍎 Stra\u{DF}e, 1,50 l") == ["Straße", "1,50", "l"])
        #expect(parts("e\u{301}lan\u{301} x") == ["e\u{301}lan\u{301}", "x"])
        #expect(parts("'Lay's' 12.05.2026") == ["Lay's", "12", "05", "2026"])
        #expect(parts("½") == ["½", "½"] && parts("ﬁ1") == ["ﬁ", "1"] && parts("5\u{20E3}") == ["5\u{20E3}"])
        let folded = FoldedText("🍎Straße")
        let start = folded.words[0].bytes.lowerBound
        // One of both letters of ß is the place of the whole letter.
        #expect(folded.source(of: start..<(start + 5)) == 2..<7)
        #expect(folded.source(of: (start + 5)..<(start + 7)) == 6..<8)
        // An accent belongs to both letters of its character.
        let accented = FoldedText("Straß\u{301}e")
        #expect(accented.source(of: 0..<5) == 0..<6 && accented.source(of: 5..<6) == 4..<6)
    }

    @Test("Invalid UTF-8 separates words")
    func invalidBytes() {
        let cases: [([UInt8], [String])] = [
            ([0x61, 0xFF, 0x62], ["a", "b"]), ([0x61, 0xC3], ["a"]), ([0xC0, 0xAF, 0x61], ["a"]),
            ([0x61, 0xE2, 0x82], ["a"]),
            ([0xED, 0xA0, 0x80, 0x61], ["a"]), ([0xF4, 0x90, 0x80, 0x80, 0x62], ["b"]),
            ([0xF0, 0x80, 0x80, 0x61], ["a"]),
            ([0xE0, 0x80, 0x80], []), ([0x80], []),
        ]
        for (bytes, expected) in cases {
            var folded = FoldedText()
            bytes.withUnsafeBytes { folded.fold($0) }
            #expect(folded.words.map { String(decoding: folded[$0], as: UTF8.self) } == expected, "\(bytes)")
        }
    }

    @Test("Huge words and thousands of marks are folded, and a value folds one text after another")
    func hugeTexts() {
        let many = 100_000
        #expect(Self.words(String(repeating: "Ä", count: many)) == [String(repeating: "a", count: many)])
        #expect(Self.words("a" + String(repeating: "\u{301}", count: many)) == ["a"])
        #expect(Self.words(String(repeating: "9", count: many)).map(\.count) == [many])
        #expect(Self.words(String(repeating: "0", count: many)) == ["0"])
        #expect(Self.words(String(repeating: "1.", count: many)).count == many)
        var folded = FoldedText("one 1.5")
        folded.fold(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(folded.words.isEmpty && folded.bytes.isEmpty)
    }

    @Test("The place of a word, and the folded words of any text, fold to the same words")
    func idempotence() {
        var generator = SeededGenerator(seed: 1)
        let letters = Array(
            "aAbß éñÆ đĐ'’-.,0159 牛か\u{3099}🍎\u{301}\u{306}иИйўіїёςΣ\u{AD}ﬁ½²⑫℅㎧ＡｶﾞİIı한\u{1112}\u{1161}".unicodeScalars
        )
        for _ in 0..<5000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                text.unicodeScalars.append(letters.randomElement(using: &generator)!)
            }
            let words = Self.words(text)
            #expect(words.flatMap(Self.words) == words, "\(text.debugDescription)")
            for (word, found) in zip(words, FoldedText(text).words) {
                #expect(Self.words(text.utf16Part(found.source)).contains(word), "\(text.debugDescription)")
            }
        }
    }

    /// Letters of their own in ICU that folding replaces.
    private static let ownLetters = ["Þ", "þ", "ı", "ŉ", "Ŋ", "ŋ", "Ŧ", "ŧ", "ƀ", "Ɨ", "Ƶ", "ƶ", "Ǥ", "ǥ", "Ƀ", "Ʉ"]

    @Test("A letter has the primary weights of its folded letters in ICU, unless folding replaces it")
    func comparesWithICU() {
        let collator = LanguageCollator.of(LanguageCollator.root)
        /// The weights of a text without those of accents and case.
        func primary(_ text: String) -> [UInt8] { Array(collator.key(text).prefix { $0 != 1 }) }
        var (compared, different) = (0, [String]())
        let ranges: [ClosedRange<UInt32>] = [
            0xC0...0x24F, 0x370...0x52F, 0x1E00...0x1FFF, 0xFB00...0xFB06, 0xFF21...0xFF9F,
        ]
        for scalar in ranges.joined().compactMap(Unicode.Scalar.init) where scalar.properties.isAlphabetic {
            let text = String(scalar)
            let words = Self.words(text)
            guard words.count == 1, scalar.properties.generalCategory != .modifierLetter else { continue }
            compared += 1
            if primary(text) != primary(words[0]) { different.append(text) }
        }
        #expect(compared > 1000)
        #expect(different == Self.ownLetters)
    }
}
