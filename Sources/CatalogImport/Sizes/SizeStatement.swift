internal import Catalog

/// A statement that a part of a text makes about a product's size.
enum SizeStatement: Hashable {
    case measure(SizeMeasure)
    case count(SizeCount)
    /// A range of sizes or weights.
    case range
    /// A length or an area that describes the product's form.
    case formMeasurement
    /// A container without a number.
    case container
    /// A unit without a number, such as `kg` or `per kg`.
    case bareUnit(MeasureUnit, isPer: Bool)
    /// A number, a count or a measure that no rule explains.
    case unclear
    /// A number or word that does not concern the size.
    case other
    case mark(Unicode.Scalar)

    var isMeasure: Bool { if case .measure = self { true } else { false } }
    var isCount: Bool { if case .count = self { true } else { false } }
    var isPer: Bool { if case .bareUnit(_, true) = self { true } else { false } }
}

/// A number of things, such as `12 eggs` or `15 x 10 pieces`.
struct SizeCount: Hashable {
    var amount: Int
    var packs = 1
    var noun: SizeNoun

    var total: Int { amount * packs }
}

/// The kinds of things that a number counts, from the largest to the smallest.
enum SizeNoun: Hashable {
    /// Packs or containers, each of which may have the stated measure.
    case bundle
    case container
    /// Pieces of an unknown kind.
    case piece
    /// Parts of one product, such as slices.
    case item
    case dose
}

/// A quantity with its unit, times a number of packs.
struct SizeMeasure: Hashable {
    enum Unit: Hashable {
        case fixed(MeasureUnit)
        case customary(ImportLanguage.CustomaryUnit)
    }

    enum Kind: Hashable { case plain, net, drained }

    var amount: ExactDecimal
    var unit: Unit
    var packs = 1
    var kind = Kind.plain
    var isApproximate = false
}
