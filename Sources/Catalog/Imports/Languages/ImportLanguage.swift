/// The words of one language that imports understand in sizes and in the availability of products.
///
/// Each property is a list of words and phrases, separated by commas. Case and accents are ignored. To add a language,
/// write one file like `German.swift` and add it to `all`.
package struct ImportLanguage: Sendable {
    /// The ISO 639-1 code; empty for the spellings that many languages share.
    package let code: String
    /// Spellings of units with one meaning everywhere.
    package var units: [MeasureUnit: String] = [:]
    /// Spellings of units that differ between countries, and of the ounce, which may be a mass or a volume.
    package var customaryUnits: [CustomaryUnit: String] = [:]
    /// Words between a count and the size of one: `4 cans of 400 g`.
    package var connectors = ""
    /// Several products sold together: `pack of 6`, `6-pack`.
    package var bundles = ""
    /// Things that hold a measure: `6 cans 330 ml`.
    package var containers = ""
    /// Parts of one product that are counted if it has no other measure: `80 tea bags`.
    package var items = ""
    /// Words before the whole content: `net weight`.
    package var net = ""
    /// Words before or after the drained content.
    package var drained = ""
    package var approximate = ""
    /// Words before the unit of counter goods: `per kg`.
    package var per = ""
    /// Words for a range, or for a choice between sizes.
    package var ranges = ""
    /// Words before a number that names a kind and counts nothing: `size 4`, `no. 5`.
    package var labels = ""
    package var halves = ""
    /// Words after a number that describe the product and count nothing: `2 ply`, `8 months`.
    package var traits = ""
    /// Words for products that customers can buy now.
    package var available = ""
    /// Words for products that customers cannot buy now.
    package var unavailable = ""

    /// A unit whose size depends on the country, or on the kind of product.
    package enum CustomaryUnit: Sendable, Hashable {
        case ounce, fluidOunce, pint, quart, gallon
    }

    package static let all: [ImportLanguage] = [
        shared, english, german, croatian, italian, spanish, french, russian, polish,
    ]

    /// Returns the words and phrases of a list, in the form in which they are compared.
    package static func words(_ list: String) -> [String] {
        list.split(separator: ",").map { folded(String($0).trimmed) }.filter { !$0.isEmpty }
    }

    /// Returns a text in lower case and without accents. The word “à” keeps its accent, because “a” is another word.
    ///
    /// - Complexity: O(n) for a stream-safe text.
    package static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var folded = String.UnicodeScalarView()
        let scalars = Array(text.lowercased().decomposed.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            switch scalar {
            case "\u{300}" where isOneLetterA(before: index, scalars): folded.append(scalar)
            case "\u{300}"..."\u{36F}": continue
            case "đ": folded.append("d")
            case "ł": folded.append("l")
            case "ß": folded.append(contentsOf: "ss".unicodeScalars)
            case "œ": folded.append(contentsOf: "oe".unicodeScalars)
            case "æ": folded.append(contentsOf: "ae".unicodeScalars)
            default: folded.append(scalar)
            }
        }
        return String(folded)
    }

    private static func isOneLetterA(before index: Int, _ scalars: [Unicode.Scalar]) -> Bool {
        func isLetter(_ index: Int) -> Bool {
            scalars.indices.contains(index) && scalars[index].properties.isAlphabetic
        }
        return index > 0 && scalars[index - 1] == "a" && !isLetter(index - 2) && !isLetter(index + 1)
    }
}

extension ImportLanguage {
    /// Symbols of units, which all languages share, and spellings of languages without a file of their own.
    static let shared = ImportLanguage(
        code: "",
        units: [
            .mg: "mg", .g: "g, gr, gm, grm", .dag: "dag, dkg", .hg: "hg", .kg: "kg, kgs, kgm, kilo, kilogram", .t: "t",
            .lb: "lb, lbs", .ml: "ml, mlt", .cl: "cl", .dl: "dl", .l: "l, lt, ltr, liter", .hl: "hl",
            .m3: "m3, m³", .floz_us: "floz_us", .pt_us: "pt_us", .qt_us: "qt_us", .gal_us: "gal_us",
            .floz_uk: "floz_uk", .pt_uk: "pt_uk", .gal_uk: "gal_uk",
            .mm: "mm", .cm: "cm", .m: "m, meter", .inch: "in, inch, inches", .ft: "ft", .yd: "yd",
            .cm2: "cm2, cm²", .m2: "m2, m², qm, sqm", .ft2: "ft2, ft², sqft",
            .piece: "piece, pc, pcs, ea, ct, st, stk, stuk, stuks, ko, kos, kosa, kosi, kosov, ks, db, tablet",
            .pair: "pair", .dozen: "dozen, dz", .hundred: "hundred", .dose: "dose, tab",
        ],
        customaryUnits: [.ounce: "oz", .fluidOunce: "fl oz, floz, fl. oz"],
        connectors: "x, ×, *, х",
        approximate: "~, ca, cca",
        labels: "№, €, $, £",
        traits: "%, º, °, °c, €, $, £, eur, usd, gbp"
    )
}
