internal import ArgumentParser
internal import Catalog
internal import CatalogImport
internal import JSON

/// The fields of a product as command line options. An empty value removes a field.
struct ProductArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: "The name.") var name: String?
    @Option(parsing: .unconditional, help: "The brand.") var brand: String?
    @Option(parsing: .unconditional, help: "The current price, a decimal such as 1.99.") var price: String?
    @Option(parsing: .unconditional, help: "The crossed-out price.") var regularPrice: String?
    @Option(parsing: .unconditional, help: "The size, such as 500 g or 6 x 330 ml.") var size: String?
    @Flag(inversion: .prefixedNo, help: "Whether the product is in stock.") var inStock: Bool?
    @Option(parsing: .unconditionalSingleValue, help: "A tag. May be repeated; replaces all tags.") var tag: [String] =
        []
    @Option(parsing: .unconditional, help: "The barcode.") var barcode: String?
    @Option(parsing: .unconditional, help: "The address of the picture.") var imageURL: String?
    @Option(
        parsing: .unconditional,
        help: "The key of the group: products with the same key can be shown as one card."
    ) var group: String?
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A value of a declared attribute, such as rating=4.5, or origin= to remove it; | separates the elements of a set. May be repeated.",
            valueName: "name=value"
        )
    ) var attribute: [String] = []

    /// The value of an option.
    private enum Value {
        case text(String), price(String), size(String), flag(Bool), tags([String]), attributes([String])
    }

    /// The given options, by the members of requests that they set. Other members can be set with --json.
    private var given: [(member: String, value: Value)] {
        let all: [(String, Value?)] = [
            ("name", name.map { .text($0) }), ("brand", brand.map { .text($0) }),
            ("price_minor", price.map { .price($0) }), ("regular_price_minor", regularPrice.map { .price($0) }),
            ("size", size.map { .size($0) }), ("in_stock", inStock.map { .flag($0) }),
            ("tags", tag.isEmpty ? nil : .tags(tag)), ("barcode", barcode.map { .text($0) }),
            ("image_url", imageURL.map { .text($0) }), ("group", group.map { .text($0) }),
            ("attributes", attribute.isEmpty ? nil : .attributes(attribute)),
        ]
        return all.compactMap { member, value in value.map { (member, $0) } }
    }

    /// Whether no option is given.
    var isEmpty: Bool { given.isEmpty }

    /// Returns the fields as a merge patch, as requests have them.
    ///
    /// - Parameter attributes: the attributes in effect in the store.
    /// - Throws: `CommandFailure`.
    func patch(in store: Store, _ attributes: AttributeSet) throws(CommandFailure) -> JSONValue {
        var members: [JSONValue.Member] = []
        for (name, value) in given {
            let json: JSONValue =
                switch value {
                case .text(let text): text.isEmpty ? .null : .string(text)
                case .price(let text): text.isEmpty ? .null : .integer(try parsePrice(text, in: store.currency))
                case .size(let text): try Self.size(text, in: store)
                case .flag(let flag): .bool(flag)
                case .tags(let tags): .array(tags.filter { !$0.isEmpty }.map { .string($0) })
                case .attributes(let texts): try Self.values(texts, attributes, of: store)
                }
            members.append(.init(name, json))
        }
        return .object(members)
    }

    /// Returns an error about a member of a request with the names of the options.
    static func message(_ message: String, about member: String) -> String {
        let others = ["price_minor": "price", "regular_price_minor": "regular-price", "tags": "tag"]
        func option(_ member: String) -> String { "--" + (others[member] ?? member.replacing("_", with: "-")) }
        let isFirst = message.hasPrefix("\(member) ")
        let text = isFirst ? option(member) + message.dropFirst(member.count) : message
        // Errors about one price name the other one.
        return ["regular_price_minor", "price_minor"].reduce(text) { $0.replacing($1, with: option($1)) }
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
    private static func values(
        _ texts: [String],
        _ attributes: AttributeSet,
        of store: Store
    ) throws(CommandFailure) -> JSONValue {
        var members: [JSONValue.Member] = []
        for text in texts {
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
            members.append(.init(halves[0], try value(halves[1], of: halves[0], attributes, store)))
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
        let json = json(text, definition.form)
        do { _ = try definition.value(json) } catch {
            throw CommandFailure(
                "attribute “\(name)” must be \(error.expected) (got “\(text)”)",
                CommandFailure.usage
            )
        }
        return json
    }

    /// Returns the JSON of a value, or a string that is not one.
    private static func json(_ text: String, _ form: AttributeForm) -> JSONValue {
        switch form {
        case .number: ExactDecimal(text).map { .number($0.description) } ?? .string(text)
        case .boolean: ["true": .bool(true), "false": .bool(false)][text] ?? .string(text)
        case .set: .array(text.split(separator: "|").map { .string(String($0)) })
        case .enumeration, .text, .date, .ratio, .unknown: .string(text)
        }
    }
}
