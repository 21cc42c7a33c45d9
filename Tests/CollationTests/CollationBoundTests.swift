import Testing

@testable import Collation

/// The bounds of language tags and of decimals.
@Suite struct CollationBoundTests {
    @Test(
        "A tag has 2 to 64 letters, digits and hyphens, in parts of 1 to 8",
        arguments: [
            ("de", true), ("d", false), ("de-aaaaaaaa", true), ("de-aaaaaaaaa", false), ("de-x-a", true),
            ("de-", false),
            ("de-x-\(String(repeating: "aaaaaaaa-", count: 6))aaaaa", true),
            ("de-x-\(String(repeating: "aaaaaaaa-", count: 6))aaaaaa", false), ("DE-at", true), ("de-x-09azAZ", true),
            ("de-x-/", false), ("de-x-:", false), ("de-x-@", false), ("de-x-[", false), ("de-x-`", false),
            ("de-x-{", false),
            ("dé", false),
        ]
    )
    func tags(_ tag: String, _ isValid: Bool) {
        #expect((LanguageCollator(tag) != nil) == isValid)
    }

    @Test(
        "Each number of a text has a point and six decimals, and digits with several marks stay",
        arguments: [
            ("0", "0.000000"), ("9", "9.000000"), ("/0:", "/0.000000:"), ("1.123456", "1.123456"),
            ("1,12345", "1.123450"), ("1.1234567", "1.1234567"), ("1.2.3", "1.2.3"), ("1.2.3 4", "1.2.3 4.000000"),
            ("1,2,", "1.200000,"), ("1..2", "1.000000..2.000000"), ("a1b2", "a1.000000b2.000000"),
            ("1.2,3x4.5", "1.2,3x4.500000"),
        ]
    )
    func decimals(_ text: String, _ prepared: String) {
        #expect(DecimalText.prepared(text) == prepared)
    }

    @Test("The version has that of the rules of decimals last, and four numbers of ICU and of its rules")
    func version() {
        let parts = LanguageCollator.version.split(separator: " ")
        #expect(parts.map { $0.split(separator: ".").count } == [4, 4, 1])
        #expect(parts.last == "1" && DecimalText.version == 1)
        // The rules of the root are not version 0.
        #expect(parts.first?.hasPrefix("0.") == false && parts[1].hasPrefix("0.") == false)
    }

    @Test("Texts compare in both directions, with their numbers, and equal ones are equal")
    func comparison() {
        let collator = LanguageCollator.of("en")
        #expect(collator.compare("a", "b") < 0 && collator.compare("b", "a") > 0 && collator.compare("a", "a") == 0)
        #expect(collator.compare("2 dl", "10 dl") < 0 && collator.compare("0.5 l", "0.33 l") > 0)
        #expect(collator.compare("1,5", "1.5") == 0 && collator.compare("", "") == 0 && collator.compare("", "a") < 0)
        #expect(LanguageCollator.of("root") === LanguageCollator.of(LanguageCollator.root))
    }

    @Test("Extensions of a tag count for its rules, in any case")
    func rules() {
        #expect(LanguageCollator.haveEqualRules("de-u-co-phonebk", "DE-U-CO-PHONEBK"))
        #expect(!LanguageCollator.haveEqualRules("en-u-kf-upper", "en-u-kf-lower"))
        #expect(LanguageCollator.haveEqualRules("sv", "sv") && !LanguageCollator.haveEqualRules("sv", "da"))
    }
}
