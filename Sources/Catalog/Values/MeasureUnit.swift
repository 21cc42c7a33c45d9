/// A unit of size, named as in responses, with its exact factor to the base unit of its dimension: g, ml, piece,
/// m, m² or dose.
package enum MeasureUnit: String, CaseIterable, Sendable, Hashable, Codable {
    case mg, g, dag, hg, kg, t, oz, lb
    case ml, cl, dl, l, hl, m3
    case floz_us, pt_us, qt_us, gal_us, floz_uk, pt_uk, gal_uk
    case mm, cm, m
    case inch = "in"
    case ft, yd
    case cm2, m2, ft2
    case piece, pair, dozen, hundred
    case dose

    package var dimension: Dimension {
        switch self {
        case .mg, .g, .dag, .hg, .kg, .t, .oz, .lb: .mass
        case .ml, .cl, .dl, .l, .hl, .m3, .floz_us, .pt_us, .qt_us, .gal_us, .floz_uk, .pt_uk, .gal_uk: .volume
        case .mm, .cm, .m, .inch, .ft, .yd: .length
        case .cm2, .m2, .ft2: .area
        case .piece, .pair, .dozen, .hundred: .piece
        case .dose: .dose
        }
    }

    /// The factor to the base unit, exact by definition. Source: NIST SP 811, app. B; UK Weights and Measures Act 1985.
    package var factor: ExactDecimal {
        switch self {
        case .mg, .mm: ExactDecimal(1, scale: 3)
        case .g, .ml, .m, .m2, .piece, .dose: ExactDecimal(1)
        case .dag, .cl: ExactDecimal(10)
        case .hg, .dl, .hundred: ExactDecimal(100)
        case .kg, .l: ExactDecimal(1000)
        case .t, .m3: ExactDecimal(1_000_000)
        case .hl: ExactDecimal(100_000)
        case .oz: ExactDecimal(28_349_523_125, scale: 9)
        case .lb: ExactDecimal(45_359_237, scale: 5)
        case .floz_us: ExactDecimal(295_735_295_625, scale: 10)
        case .pt_us: ExactDecimal(473_176_473, scale: 6)
        case .qt_us: ExactDecimal(946_352_946, scale: 6)
        case .gal_us: ExactDecimal(3_785_411_784, scale: 6)
        case .floz_uk: ExactDecimal(284_130_625, scale: 7)
        case .pt_uk: ExactDecimal(56_826_125, scale: 5)
        case .gal_uk: ExactDecimal(454_609, scale: 2)
        case .cm: ExactDecimal(1, scale: 2)
        case .inch: ExactDecimal(254, scale: 4)
        case .ft: ExactDecimal(3048, scale: 4)
        case .yd: ExactDecimal(9144, scale: 4)
        case .cm2: ExactDecimal(1, scale: 4)
        case .ft2: ExactDecimal(9_290_304, scale: 8)
        case .pair: ExactDecimal(2)
        case .dozen: ExactDecimal(12)
        }
    }

    /// Parses a spelling, ignoring case, accents and a trailing point.
    ///
    /// Ambiguous names of units that differ between countries or dimensions (`fl oz`, `pt`, `gal`) are not
    /// accepted; `oz` is always a mass.
    package init?(spelling: some StringProtocol) {
        var key = ImportLanguage.folded(String(spelling))
        if key.hasSuffix(".") { key.removeLast() }
        if let unit = Self.spellings[key] { self = unit } else { return nil }
    }

    /// The spellings in the languages that imports understand.
    private static let spellings = spellings(in: ImportLanguage.all)

    /// Returns the units by their spellings in some languages. Those that two languages understand differently are missing.
    static func spellings(in languages: [ImportLanguage]) -> [String: MeasureUnit] {
        var table: [String: MeasureUnit?] = [:]
        for language in languages {
            let lists = language.units.map { ($0, $1) } + [(.oz, language.customaryUnits[.ounce] ?? "")]
            for (unit, list) in lists {
                for word in ImportLanguage.words(list) {
                    if let known = table[word], known != unit {
                        table[word] = .some(nil)
                    } else {
                        table[word] = unit
                    }
                }
            }
        }
        for unit in allCases { table[unit.rawValue] = unit }
        return table.compactMapValues { $0 }
    }
}
