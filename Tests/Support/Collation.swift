package import Catalog
internal import Collation

/// Returns the order of texts in a language, by ICU's comparison instead of sort keys.
package func collator(_ language: String) -> Collator {
    let collator = LanguageCollator.of(language)
    return { collator.compare($0, $1) }
}
