package import Catalog
internal import CICU

/// ICU's collation of a locale, from the library that PostgreSQL uses: the database's order of names, in memory.
private final class ICUCollator: @unchecked Sendable {
    private let raw: OpaquePointer

    init(_ locale: String) {
        guard let raw = aisle_collator_open(locale) else { preconditionFailure("no collation of \(locale)") }
        self.raw = raw
    }

    deinit { aisle_collator_close(raw) }

    func compare(_ a: String, _ b: String) -> Int {
        a.utf8CString.withUnsafeBufferPointer { a in
            b.utf8CString.withUnsafeBufferPointer { b in
                Int(aisle_collator_compare(raw, a.baseAddress, Int32(a.count - 1), b.baseAddress, Int32(b.count - 1)))
            }
        }
    }
}

/// Returns the collation that a migration creates for the locale.
package func collator(_ locale: String = "und-u-kn-true") -> Collator {
    let collator = ICUCollator(locale)
    return { collator.compare($0, $1) }
}
