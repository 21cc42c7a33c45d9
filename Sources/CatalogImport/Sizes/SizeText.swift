internal import JSON
package import Catalog

/// A parser for sizes in natural text, such as `500g`, `6 x 330 ml`, `4 Dosen à 400 g (Abtropfgewicht 240 g)`.
///
///     text     = { measure | count | range | dimension | word | mark }
///     measure  = [ kind ] { count link } number unit [ "x" count ] [ kind ]
///     count    = number { noun }                             12 eggs, 4 packs
///     link     = "x" | noun connector | noun                 4 x, 4 cans of, 4 cans
///     kind     = net | drained | approximate                 before or after the measure
///
/// The words come from `ImportLanguage`. The statements of a text confirm each other, as in `120 g (4 x 30 g)`, or
/// contradict each other. A text that is contradictory, ambiguous or not understood has no size: ranges, numbers that
/// may have a thousands separator, a number that no known word explains. An unknown word never changes a size.
package enum SizeText {
    /// Where a text comes from.
    package enum Source: Sendable {
        /// A column for sizes.
        case size
        /// A product's name, in which dimensions and strengths do not describe the content.
        case name
    }

    /// The facts about the store and the shelf of a product that decide the meaning of words.
    package struct Context: Sendable, Hashable {
        /// Decides the customary units: those of the US for `us`, imperial ones for `gb`, and none otherwise.
        package var pricing: UnitPricing
        /// An ISO 639-1 code, which decides words that several languages understand differently.
        package var language: String?
        /// The dimension of the shelf's products; decides whether `oz` is a mass or a volume.
        package var dimension: Dimension?
        /// Further words for units, each one word as sizes are compared.
        var units: [String: MeasureUnit] = [:]

        package init(pricing: UnitPricing = .eu, language: String? = nil, dimension: Dimension? = nil) {
            self.pricing = pricing
            self.language = language
            self.dimension = dimension
        }
    }

    /// The maximum length of a text in bytes; a longer one has no size.
    private static let lengthLimit = 1024

    /// Returns the size that a text states; nil if it states none, or if it is ambiguous.
    ///
    /// - Complexity: O(n) in the length of the text.
    package static func parse(_ text: String, from source: Source = .size, in context: Context = Context()) -> Size? {
        guard text.utf8.count <= lengthLimit, text.isStreamSafe else { return nil }
        var reader = SizeReader(SizeTerm.terms(of: text, in: context), source, context)
        return SizeResolver(source: source, context: context).size(reader.statements())
    }

    /// Parses the name of a unit, such as `kg`, `1 kg`, `Stück` or `fl oz`; nil for an unknown or ambiguous one.
    ///
    /// An ounce is a mass, except on a shelf of volumes.
    package static func unit(_ text: String, in context: Context = Context()) -> MeasureUnit? {
        if !context.units.isEmpty, let unit = context.units[SizeTerm.phrase(text)] { return unit }
        if let unit = MeasureUnit(spelling: text), unit != .oz || context.dimension != .volume { return unit }
        guard let size = parse(text.first == "1" ? text : "1 " + text, in: context), size.packs == 1,
            size.amount == ExactDecimal(1),
            size.drained == nil, !size.isApproximate
        else { return nil }
        return size.unit
    }
}

/// The facts about stores and shelves that decide the meaning of words in sizes.
package struct SizeContexts: Sendable {
    private var stores: [CatalogKey: SizeText.Context] = [:]
    /// By store, then by the key and by the title of a shelf.
    private var shelves: [CatalogKey: [String: Dimension]] = [:]

    package init() {}

    /// Adds a store.
    ///
    /// - Parameter locale: a BCP 47 tag, of which the language decides.
    package mutating func add(_ store: CatalogKey, pricing: UnitPricing, locale: String) {
        let language = locale.prefix { $0 != "-" }.lowercased()
        stores[store] = SizeText.Context(pricing: pricing, language: language)
    }

    /// Adds a shelf with a comparison dimension.
    package mutating func add(_ dimension: Dimension, of shelf: String, in store: CatalogKey) {
        shelves[store, default: [:]][shelf] = dimension
    }

    /// Returns the facts about a row's store and shelf.
    package func context(of store: CatalogKey, shelf: String?) -> SizeText.Context {
        var context = stores[store] ?? SizeText.Context()
        if let shelf { context.dimension = shelves[store]?[shelf] }
        return context
    }
}
