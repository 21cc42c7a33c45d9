internal import ArgumentParser
internal import Catalog

/// The filters as command line options.
struct FilterArguments: ParsableArguments {
    @Option(parsing: .unconditionalSingleValue, help: help(.brand)) var brand: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: help(.tag)) var tag: [String] = []
    @Flag(inversion: .prefixedNo, help: help(.inStock)) var inStock: Bool?
    @Option(parsing: .unconditional, help: help(.priceMin)) var priceMin: String?
    @Option(parsing: .unconditional, help: help(.priceMax)) var priceMax: String?
    @Option(parsing: .unconditional, help: help(.unitPriceMax)) var unitPriceMax: String?
    @Option(help: help(.createdAfter)) var createdAfter: String?
    @Option(help: help(.createdBefore)) var createdBefore: String?
    @Option(help: help(.modifiedAfter)) var modifiedAfter: String?
    @Option(help: help(.modifiedBefore)) var modifiedBefore: String?
    @Option(help: help(.dimension)) var dimension: [String] = []

    private static func help(_ key: FilterKey) -> ArgumentHelp {
        ArgumentHelp("Only products \(key.summary).\(key.form.isRepeatable ? " May be repeated." : "")")
    }

    /// Returns the filter; nil if no option is given.
    func filter() throws(CatalogError) -> Filter? {
        try Filter { key in
            switch key {
            case .brand: brand
            case .tag: tag
            case .inStock: inStock.map { [$0 ? "true" : "false"] } ?? []
            case .priceMin: [priceMin].compactMap { $0 }
            case .priceMax: [priceMax].compactMap { $0 }
            case .unitPriceMax: [unitPriceMax].compactMap { $0 }
            case .createdAfter: [createdAfter].compactMap { $0 }
            case .createdBefore: [createdBefore].compactMap { $0 }
            case .modifiedAfter: [modifiedAfter].compactMap { $0 }
            case .modifiedBefore: [modifiedBefore].compactMap { $0 }
            case .dimension: dimension
            }
        }
    }
}
