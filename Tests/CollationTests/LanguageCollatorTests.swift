import Ordering
import Testing

@testable import Collation

@Suite struct LanguageCollatorTests {
    private static func sorted(_ texts: [String], _ language: String) -> [String] {
        let collator = LanguageCollator(language)!
        return texts.sorted { collator.key($0).lexicographicallyPrecedes(collator.key($1)) }
    }

    @Test(
        "Texts are in the order of their language",
        arguments: [
            ("root", ["Apfel", "Äpfel", "Arla", "Zott", "Ёж", "ель", "牛乳"]),
            ("cs", ["cibule", "čaj", "hora", "chata", "inkoust"]),
            ("hr", ["cvijet", "čaj", "ćevap", "dud", "džem", "đumbir", "ljekarna", "mlijeko"]),
            ("sv", ["Zebra", "ål", "äpple", "öl"]),
            ("de", ["Apfel", "Äpfel", "Apfelsine", "Arbeit", "Ärger"]),
            ("de-u-co-phonebk", ["Ad", "Äpfel", "Af", "Apfel"]),
            ("es", ["nata", "nuez", "ñora", "oliva"]),
            ("pl", ["las", "ląd", "lody", "łosoś", "mleko"]),
            ("tr", ["hamsi", "ıspanak", "incir", "jambon"]),
            ("da", ["zebra", "æble", "øl", "ål", "Aalborg"]),
            ("ru", ["ёж", "ежевика", "ель", "жир"]),
        ]
    )
    func languages(_ language: String, _ texts: [String]) {
        for seed in 0..<5 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            #expect(Self.sorted(texts.shuffled(using: &generator), language) == texts)
        }
    }

    @Test("Numbers and decimals compare by value, with a point or a comma")
    func decimals() {
        for suffix in ["", " l", "l", "-Liter", "% Fett"] {
            let numbers = ["0.05", "0,33", "0.5", "0.75", "1", "1,25", "1.5", "2", "2.50", "10", "10.5", "100", "250"]
            let texts = numbers.map { "Cola \($0)\(suffix)" }
            #expect(Self.sorted(texts.reversed(), "root") == texts)
        }
        let collator = LanguageCollator("en")!
        #expect(collator.key("Milk 1,5 %") == collator.key("Milk 1.5 %"))
        #expect(collator.key("Milk 1.5 %") == collator.key("Milk 1.50 %"))
    }

    @Test("Random decimals between the same texts compare by value")
    func randomDecimals() {
        var generator = SeededGenerator(seed: 1)
        let collator = LanguageCollator("root")!
        func number() -> (Int, String) {
            let (whole, decimals) = (
                Int.random(in: 0..<300, using: &generator), Int.random(in: 0...4, using: &generator)
            )
            var (fraction, scale) = (0, 1_000_000)
            var text = "\(whole)"
            for place in 0..<decimals {
                let digit = Int.random(in: 0...9, using: &generator)
                text += (place == 0 ? [".", ","].randomElement(using: &generator)! : "") + "\(digit)"
                scale /= 10
                fraction += digit * scale
            }
            return (whole * 1_000_000 + fraction, text)
        }
        for _ in 0..<3000 {
            let ((x, a), (y, b)) = (number(), number())
            for suffix in [" l", "g", ""] {
                let (left, right) = (collator.key("Juice \(a)\(suffix)"), collator.key("Juice \(b)\(suffix)"))
                #expect(left.lexicographicallyPrecedes(right) == (x < y), "\(a) \(b)")
                #expect((left == right) == (x == y), "\(a) \(b)")
            }
        }
    }

    @Test(
        "Only numbers with at most one mark are extended",
        arguments: [
            ("", ""), ("Milk", "Milk"), ("7UP", "7.000000UP"), ("1,5 l", "1.500000 l"), ("0.1234567", "0.1234567"),
            ("12.05.2026", "12.05.2026"), ("1,000,000", "1,000,000"), ("Nr.5", "Nr.5.000000"), ("5.", "5.000000."),
            (".5", ".5.000000"), ("2x1,5", "2.000000x1.500000"), ("٣", "٣"),
        ]
    )
    func preparation(_ text: String, _ expected: String) {
        #expect(DecimalText.prepared(text) == expected)
    }

    @Test("Keys compare like ICU compares the texts, for texts of any characters and lengths")
    func keys() {
        var generator = SeededGenerator(seed: 2)
        let collator = LanguageCollator("hr")!
        let letters = Array("aAbBčćdžđ zZ ß é e\u{301} 0123456789.,-'’ 牛 🍎 ъё\u{0}\n\u{FFFD}")
        func text() -> String {
            let length =
                Int.random(in: 0...20, using: &generator) == 0 ? 900 : Int.random(in: 0...12, using: &generator)
            return String((0..<length).map { _ in letters.randomElement(using: &generator)! })
        }
        for _ in 0..<3000 {
            let (a, b) = (text(), text())
            let (x, y) = (collator.key(a), collator.key(b))
            let expected = collator.compare(a, b).signum()
            #expect(
                (x == y ? 0 : x.lexicographicallyPrecedes(y) ? -1 : 1) == expected,
                "\(a.debugDescription) \(b.debugDescription)"
            )
        }
    }

    @Test("A key has no final zero, and grows with its text")
    func length() {
        let collator = LanguageCollator("root")!
        #expect(collator.key("").count < 4)
        #expect(collator.key("Milk").last != 0)
        #expect(collator.key(String(repeating: "ǻ", count: 5000)).count > 5000)
        // A ligature of 18 letters in 3 bytes.
        #expect(collator.key(String(repeating: "\u{FDFA}", count: 500)).count > 500 * 18)
    }

    @Test("Malformed tags are refused; unknown languages have the order of the root")
    func tags() {
        for tag in [
            "", "x", "de_AT", "de-", "-de", "de--AT", "'; DROP", "deutschland-at", String(repeating: "a-", count: 40),
        ] {
            #expect(LanguageCollator(tag) == nil, "\(tag)")
        }
        for tag in ["de-u-kn-false", "de-x-foo", "de-U-co-phonebk", "de-u-co-phonebk-x-a"] {
            #expect(Self.sorted(["10 g", "2 g"], tag) == ["2 g", "10 g"], "\(tag)")
        }
        let (unknown, root) = (
            LanguageCollator("tlh")!, LanguageCollator("root")!
        )
        #expect(unknown.key("Ärla 2") == root.key("Ärla 2"))
    }

    @Test("Callers share the collator of a language; texts that are not tags have the root's")
    func sharing() {
        #expect(LanguageCollator.of("cs") === LanguageCollator.of("cs"))
        #expect(LanguageCollator.of("hr").compare("ćevap", "čaj") > 0)
        #expect(LanguageCollator.of("de_AT").key("Ärla") == LanguageCollator.of("root").key("Ärla"))
        for number in 0..<1000 { _ = LanguageCollator.of("en-x-\(number)") }
        #expect(LanguageCollator.of("cs").compare("hora", "chata") < 0)
    }

    @Test("Languages with equal rules are recognized, whatever their tags")
    func equalRules() {
        for (a, b) in [("en", "en-IE"), ("EN", "de"), ("root", "fr"), ("hr", "hr-HR"), ("de_AT", "root")] {
            #expect(LanguageCollator.haveEqualRules(a, b), "\(a) \(b)")
        }
        for (a, b) in [("en", "sv"), ("hr", "cs"), ("de", "de-u-co-phonebk"), ("en", "en-u-kf-upper")] {
            #expect(!LanguageCollator.haveEqualRules(a, b), "\(a) \(b)")
        }
    }

    @Test("The version names ICU, its rules and those of decimals")
    func version() {
        let parts = LanguageCollator.version.split(separator: " ")
        #expect(parts.count == 3)
        #expect(Int(parts[0].prefix { $0 != "." })! >= 50)
    }

    @Test("Many threads may use one collator")
    func threads() async {
        let collator = LanguageCollator("cs")!
        let texts = (0..<200).map { "Chléb \($0),5 kg" }
        let expected = texts.map(collator.key)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 { group.addTask { texts.map(collator.key) == expected } }
            for await isEqual in group { #expect(isEqual) }
        }
    }
}
