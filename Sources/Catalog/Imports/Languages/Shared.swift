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
