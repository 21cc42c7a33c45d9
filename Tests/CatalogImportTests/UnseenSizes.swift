import Catalog
import CatalogImport
import CatalogJSON
import Foundation

/// Sizes as public shops write them, each with its right value, which was found without the parser.
struct UnseenSizes {
    struct Row {
        let language: String
        let country: String
        /// Nil if the text does not determine a size.
        let expected: Size?
        /// Whether the text is a product's name instead of a size.
        let isName: Bool
        var text: String

        /// The size that the parser returns for a store of the shop's country and language.
        var parsed: Size? {
            let pricing: UnitPricing = country == "us" ? .us : country == "gb" ? .gb : .eu
            return SizeText.parse(
                text,
                from: isName ? .name : .size,
                in: SizeText.Context(pricing: pricing, language: language)
            )
        }
    }

    enum Verdict: Equatable {
        case right
        /// The text determines a size, but the parser returned none.
        case unknown
        case wrong
    }

    let rows: [Row]

    init() throws {
        let url = Bundle.module.url(forResource: "unseen-sizes", withExtension: "tsv", subdirectory: "Cases")!
        rows = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").dropFirst().map { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            var expected: Size?
            if let amount = ExactDecimal(columns[2]) {
                expected = try Size(
                    amount: amount,
                    unit: MeasureUnit(rawValue: columns[3])!,
                    packs: Int(columns[4])!,
                    drained: ExactDecimal(columns[6]),
                    isApproximate: columns[5] == "yes"
                )
            }
            return Row(
                language: columns[0],
                country: columns[1],
                expected: expected,
                isName: columns[7].hasPrefix("name"),
                text: columns[8]
            )
        }
    }

    /// Compares a parsed size with the expected one: the content must be exactly equal.
    static func verdict(_ read: Size?, _ expected: Size?) -> Verdict {
        guard let read else { return expected == nil ? .right : .unknown }
        guard let expected else { return .wrong }
        let isEqual =
            read.unit.dimension == expected.unit.dimension && read.baseQuantity == expected.baseQuantity
            && read.isApproximate == expected.isApproximate
        return isEqual ? .right : .wrong
    }
}
