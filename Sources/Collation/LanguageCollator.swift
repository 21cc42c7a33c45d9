internal import CICU
internal import Synchronization

/// The order of texts in a language, as sort keys: bytes that compare like the texts.
///
/// ICU computes the keys. Numbers compare by value, also decimals with up to six digits. So "2 dl" comes before "10 dl", and "0.33 l"
/// before "0.5 l". All keys of one store have one language and one version.
///
/// Several threads may use a collator: ICU only reads it.
package final class LanguageCollator: @unchecked Sendable {
    private let collator: OpaquePointer

    /// - Parameter language: a BCP 47 tag, also with extensions, such as `de-u-co-phonebk`; `root` for no language. A language without rules
    ///   of its own has those of the root.
    /// - Returns: nil if the tag does not have the form of one: parts of 1 to 8 letters or digits.
    package init?(_ language: String) {
        guard Self.isTag(language) else { return nil }
        guard let collator = aisle_collator_open(language == Self.root ? "und" : language) else { return nil }
        self.collator = collator
    }

    deinit { aisle_collator_close(collator) }

    /// The language whose rules apply to texts without one language.
    package static let root = "root"

    /// The collators in use, by language.
    private static let known = Mutex<[String: LanguageCollator]>([:])
    /// The number of collators that are kept.
    private static let knownLimit = 256

    /// Returns the collator of a language, which many callers share; that of the root if the language is not a BCP 47 tag.
    ///
    /// - Precondition: ICU has the root's rules, which are a part of the program.
    package static func of(_ language: String) -> LanguageCollator {
        if let found = known.withLock({ $0[language] }) { return found }
        guard let made = LanguageCollator(language) ?? LanguageCollator(root) else {
            preconditionFailure("ICU has no rules")
        }
        return known.withLock { known in
            if let found = known[language] { return found }
            if known.count >= knownLimit { known.removeAll() }
            known[language] = made
            return made
        }
    }

    private static func isTag(_ text: String) -> Bool {
        (2...64).contains(text.utf8.count)
            && text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).allSatisfy { part in
                (1...8).contains(part.count)
                    && part.allSatisfy { (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) }
            }
    }

    /// Returns the sort key of a text.
    ///
    /// - Complexity: O(*n*) for *n* bytes; a name takes some microseconds.
    package func key(_ text: String) -> [UInt8] {
        var text = DecimalText.prepared(text)
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                var capacity = 4 * bytes.count + 32
                while true {
                    var needed = 0
                    let key = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                        needed = Int(
                            aisle_collator_key(
                                collator,
                                bytes.baseAddress,
                                Int32(bytes.count),
                                buffer.baseAddress,
                                Int32(capacity)
                            )
                        )
                        count = max(0, min(needed, capacity))
                    }
                    precondition(needed >= 0, "a text is UTF-8, and there is memory")
                    if needed < capacity { return key }
                    capacity = needed + 1
                }
            }
        }
    }

    /// Compares two texts: negative, zero or positive, like their keys.
    package func compare(_ a: String, _ b: String) -> Int {
        var (a, b) = (DecimalText.prepared(a), DecimalText.prepared(b))
        return a.withUTF8 { a in
            b.withUTF8 { b in
                a.withMemoryRebound(to: CChar.self) { a in
                    b.withMemoryRebound(to: CChar.self) { b in
                        Int(
                            aisle_collator_compare(
                                collator,
                                a.baseAddress,
                                Int32(a.count),
                                b.baseAddress,
                                Int32(b.count)
                            )
                        )
                    }
                }
            }
        }
    }

    /// Whether two languages have the same rules, so that all their keys are equal.
    package static func haveEqualRules(_ a: String, _ b: String) -> Bool { a == b || rules(of: a) == rules(of: b) }

    /// Returns the locale with the rules of a language, and the extensions of the language's tag, which change the rules.
    private static func rules(of language: String) -> String {
        let parts: [Substring] = language.lowercased().split(separator: "-" as Character)
        let extensions = parts.drop(while: { $0.count > 1 }).joined(separator: "-")
        guard let locale = aisle_collator_locale(of(language).collator) else { return language }
        return "\(String(cString: locale)) \(extensions)"
    }

    /// The versions of ICU, of its root's rules and of the preparation of decimals, such as `72.1.0.0 153.120.0.0 1`.
    ///
    /// A release of ICU has one version of the rules of each language, so keys of one language are comparable if the versions are equal.
    package static let version: String = {
        var version = [UInt8](repeating: 0, count: 8)
        aisle_collator_version(of(root).collator, &version)
        let icu = [version[..<4], version[4...]].map { $0.map(String.init).joined(separator: ".") }.joined(
            separator: " "
        )
        return "\(icu) \(DecimalText.version)"
    }()
}
