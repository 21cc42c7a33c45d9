import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct AvailabilityTests {
    @Test(
        "A word for products that customers can buy now is true in each language",
        arguments: [
            "in_stock", "In Stock", "INSTOCK", "yes", "true", "https://schema.org/InStock", "LimitedAvailability",
            "verfügbar", "lieferbar", "auf Lager", "ja", "dostupno", "Na zalihi", "da", "disponibile", "sì",
            "disponible", "en existencias", "oui", "en stock", "в наличии", "есть", "да", "tak", "dostępny",
        ]
    )
    func availableWordsAreTrue(_ text: String) { #expect(Availability.parse(text) == true) }

    @Test(
        "A word for products that customers cannot buy now is false in each language",
        arguments: [
            "out_of_stock", "Out of stock", "outofstock", "sold-out", "no", "N", "false", "discontinued", "preorder",
            "pre-order", "backorder", "http://schema.org/OutOfStock", "ausverkauft", "nicht verfügbar",
            "Nicht  lieferbar", "nein", "nedostupno", "ne", "nije na zalihi", "rasprodano", "esaurito",
            "non disponibile", "agotado", "sin stock", "épuisé", "epuise", "rupture de stock", "non", "нет",
            "нет в наличии", "распродано", "nie", "niedostępny", "brak",
        ]
    )
    func unavailableWordsAreFalse(_ text: String) { #expect(Availability.parse(text) == false) }

    @Test(
        "A text that is not a known word is unknown, and so is a number",
        arguments: [
            "", " ", "0", "1", "-2", "12", "maybe", "in", "stock", "verfügbar ab Montag", "nicht", "Reserved", "📦",
        ]
    )
    func otherTextsAreUnknown(_ text: String) { #expect(Availability.parse(text) == nil) }

    @Test("Each word of a language has its meaning, so no two languages disagree")
    func languagesAgree() {
        for language in ImportLanguage.all {
            for word in ImportLanguage.words(language.available) {
                #expect(Availability.parse(word) == true, "\(language.code) \(word)")
            }
            for word in ImportLanguage.words(language.unavailable) {
                #expect(Availability.parse(word) == false, "\(language.code) \(word)")
            }
        }
    }

    @Test("A long text is unknown")
    func longTextIsUnknown() { #expect(Availability.parse(String(repeating: " yes", count: 100_000)) == nil) }
}
