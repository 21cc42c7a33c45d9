internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import JSON

/// The fields of a product as command line options. An empty value removes a field.
struct ProductArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "The name.") var name: String?
    @Option(parsing: .unconditional, help: "The brand.") var brand: String?
    @Option(parsing: .unconditional, help: "The current price, a decimal such as 1.99; “none” removes it.") var price:
        String?
    @Option(parsing: .unconditional, help: "The crossed-out price; “none” removes it.") var regularPrice: String?
    @Option(parsing: .unconditional, help: "The size, such as 500 g or 6 x 330 ml.") var size: String?
    @Flag(inversion: .prefixedNo, help: "Whether the product is in stock.") var inStock: Bool?
    @Option(parsing: .unconditionalSingleValue, help: "A tag. May be repeated; replaces all tags.") var tag: [String] =
        []
    @Option(parsing: .unconditional, help: "The barcode.") var barcode: String?
    @Option(parsing: .unconditional, help: "The address of the picture.") var imageURL: String?
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A value of a declared attribute, such as rating=4.5, or origin= to remove it; | separates the elements of a set. May be repeated.",
            valueName: "name=value"
        )
    ) var attribute: [String] = []

    /// Whether no option is given.
    var isEmpty: Bool {
        let given = [name, price, regularPrice, size] + texts.map(\.value)
        return given.allSatisfy { $0 == nil } && inStock == nil && tag.isEmpty && attribute.isEmpty
    }

    /// The texts that have an option. Others can be set with --json.
    private var texts: [(field: ProductText, value: String?)] {
        [(.brand, brand), (.barcode, barcode), (.imageURL, imageURL)]
    }

    /// Returns the fields as a merge patch, as requests have them.
    ///
    /// - Parameter attributes: the attributes in effect in the store.
    /// - Throws: `CommandFailure`.
    func patch(in store: Store, _ attributes: AttributeSet) throws(CommandFailure) -> JSONValue {
        var members: [JSONValue.Member] = []
        if let name { members.append(.init("name", .string(name))) }
        for (field, value) in texts {
            if let value { members.append(.init("\(field.name)", value.isEmpty ? .null : .string(value))) }
        }
        for (name, price) in [("price_minor", price), ("regular_price_minor", regularPrice)] {
            guard let price else { continue }
            let minor = price.isEmpty ? nil : try parsePrice(price, in: store.currency)
            members.append(.init(name, .integer(minor)))
        }
        if let size { members.append(.init("size", try Self.size(size, in: store))) }
        if let inStock { members.append(.init("in_stock", .bool(inStock))) }
        if !tag.isEmpty { members.append(.init("tags", .array(tag.filter { !$0.isEmpty }.map { .string($0) }))) }
        if !attribute.isEmpty { members.append(.init("attributes", try values(attributes, of: store))) }
        return .object(members)
    }

    private static func size(_ text: String, in store: Store) throws(CommandFailure) -> JSONValue {
        if text.isEmpty { return .null }
        var contexts = SizeContexts()
        contexts.add(store.key, pricing: store.unitPricing, locale: store.locale)
        guard let size = SizeText.parse(text, in: contexts.context(of: store.key, shelf: nil)) else {
            throw CommandFailure("“\(text)” is not a size, such as 500 g or 6 x 330 ml", CommandFailure.usage)
        }
        return size.json
    }

    /// Returns the values of attributes as a merge patch.
    private func values(_ attributes: AttributeSet, of store: Store) throws(CommandFailure) -> JSONValue {
        var members: [JSONValue.Member] = []
        for text in attribute {
            let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard halves.count == 2 else {
                throw CommandFailure(
                    "--attribute must be NAME=VALUE, such as rating=4.5 (got “\(text)”)",
                    CommandFailure.usage
                )
            }
            guard !members.contains(where: { $0.name == halves[0] }) else {
                throw CommandFailure("--attribute has two values of “\(halves[0])”", CommandFailure.usage)
            }
            members.append(.init(halves[0], try Self.value(halves[1], of: halves[0], attributes, store)))
        }
        return .object(members)
    }

    private static func value(
        _ text: String,
        of name: String,
        _ attributes: AttributeSet,
        _ store: Store
    ) throws(CommandFailure) -> JSONValue {
        // A value without a declaration can be removed.
        if text.isEmpty { return .null }
        guard let definition = AttributeName(name).flatMap({ attributes[$0] })?.definition else {
            throw .missing(
                "attribute",
                name,
                among: attributes.attributes.map(\.name.text),
                list: "aisle attribute list --store \(store.key)"
            )
        }
        do throws(AttributeCells.Fault) {
            let cells = AttributeCells.exported
            guard case .number = definition.form else { return try cells.value(text, of: definition)?.json ?? .null }
            // A point is a decimal point here. Cells of files may have other marks.
            let number = ExactDecimal(text).map { JSONValue.number($0.description) }
            return try cells.value(number ?? .string(text), of: definition).json
        } catch {
            throw CommandFailure("attribute “\(name)” \(error.reason) (got “\(text)”)", CommandFailure.badData)
        }
    }
}
