package import Catalog
internal import Collation

/// Returns the collation that a migration creates for a language: the database's order of names, in memory.
package func collator(_ language: String = "root") -> Collator {
    guard let collator = LanguageCollator(language, comparesDecimals: false) else {
        preconditionFailure("no collation of \(language)")
    }
    return { collator.compare($0, $1) }
}
