internal import ArgumentParser
internal import Catalog

/// The filters as command line options.
struct FilterArguments: ParsableArguments {
    @Option(parsing: .unconditionalSingleValue, help: help(.brand)) var brand: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: help(.tag)) var tag: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: help(.tagsAll)) var tagsAll: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: help(.tagsNone)) var tagsNone: [String] = []
    @Flag(inversion: .prefixedNo, help: help(.inStock)) var inStock: Bool?
    @Option(parsing: .unconditional, help: help(.priceMin)) var priceMin: String?
    @Option(parsing: .unconditional, help: help(.priceMax)) var priceMax: String?
    @Option(parsing: .unconditional, help: help(.unitPriceMax)) var unitPriceMax: String?
    @Option(help: help(.createdAfter)) var createdAfter: String?
    @Option(help: help(.createdBefore)) var createdBefore: String?
    @Option(help: help(.modifiedAfter)) var modifiedAfter: String?
    @Option(help: help(.modifiedBefore)) var modifiedBefore: String?
    @Option(help: help(.dimension)) var dimension: [String] = []
    @Option(
        name: .customLong("filter"),
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A filter by an attribute, such as rating_min=4 or allergens_none=nuts. May be repeated.",
            valueName: "name=value"
        )
    ) var attributeFilters: [String] = []

    private static func help(_ key: FilterKey) -> ArgumentHelp {
        ArgumentHelp("Only products \(key.summary).\(key.form.isRepeatable ? " May be repeated." : "")")
    }

    /// Returns the filter; nil if no option is given.
    func filter() throws(CatalogError) -> Filter? {
        var others: [FilterKey: [String]] = [:]
        for text in attributeFilters {
            let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let key = FilterKey(name: halves[0]) else {
                throw .malformed(
                    parameter: "filter",
                    detail: "--filter must be NAME=VALUE, such as rating_min=4 (got “\(text.prefix(64))”)"
                )
            }
            others[key, default: []].append(String(halves[1]))
        }
        return try Filter(attributes: others) { key in
            others[key, default: []]
                + options(key)
        }
    }

    /// Returns the values of the option of a built-in key.
    private func options(_ key: FilterKey) -> [String] {
        switch key {
        case .brand: brand
        case .tag: tag
        case .tagsAll: tagsAll
        case .tagsNone: tagsNone
        case .inStock: inStock.map { [$0 ? "true" : "false"] } ?? []
        case .priceMin: [priceMin].compactMap { $0 }
        case .priceMax: [priceMax].compactMap { $0 }
        case .unitPriceMax: [unitPriceMax].compactMap { $0 }
        case .createdAfter: [createdAfter].compactMap { $0 }
        case .createdBefore: [createdBefore].compactMap { $0 }
        case .modifiedAfter: [modifiedAfter].compactMap { $0 }
        case .modifiedBefore: [modifiedBefore].compactMap { $0 }
        case .dimension: dimension
        case .attribute: []
        }
    }
}
