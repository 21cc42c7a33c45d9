import JSON
import Catalog
import Ordering
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct AttributeValueTests {
    private static func definition(_ json: String, _ name: String = "a") throws -> AttributeDefinition {
        let name = AttributeName(name)!
        let declaration = try AttributeDeclaration(name, try JSONReader.parse(Array(json.utf8)))
        guard case .definition(let definition) = declaration else { throw CatalogError.fault("no type") }
        return definition
    }

    private static func set(_ declarations: [(String, String)]) throws -> AttributeSet {
        AttributeSet(
            deployment: try declarations.map { AttributeDeclaration.definition(try definition($0.1, $0.0)) }
        )
    }

    private static func check(_ new: String, replacing old: String?, against set: AttributeSet) throws {
        try ChangedAttributes(new, replacing: old).check(against: set)
    }

    private static func parse(_ json: String) throws -> JSONValue { try JSONReader.parse(Array(json.utf8)) }

    @Test(
        "A value is read exactly, or does not have the type; nothing is rounded or converted",
        arguments: [
            (#"{"type":"number","decimals":1}"#, "4.5", .number(45)),
            (#"{"type":"number","decimals":1}"#, "4.50", .number(45)),
            (#"{"type":"number","decimals":1}"#, "-0.0", .number(0)),
            (#"{"type":"number","decimals":1}"#, "45e-1", .number(45)),
            (#"{"type":"number","decimals":1}"#, "1E+2", .number(1000)),
            (#"{"type":"number","decimals":1}"#, "4.55", nil),
            (#"{"type":"number","decimals":1}"#, #""4.5""#, nil),
            (#"{"type":"number"}"#, "999999999999999", .number(999_999_999_999_999)),
            (#"{"type":"number"}"#, "-999999999999999", .number(-999_999_999_999_999)),
            (#"{"type":"number"}"#, "1000000000000000", nil), (#"{"type":"number"}"#, "1e64", nil),
            (#"{"type":"number"}"#, "1e99999999999999999999", nil), (#"{"type":"number"}"#, "true", nil),
            (#"{"type":"number","decimals":9}"#, "0.000000001", .number(1)),
            (#"{"type":"number","decimals":9}"#, "1000000", nil),
            (#"{"type":"enum","values":[{"key":"b"},{"key":"a"}]}"#, #""a""#, .rank(1)),
            (#"{"type":"enum","values":[{"key":"é"}]}"#, #""e\u0301""#, .rank(0)),
            (#"{"type":"enum","values":[{"key":"b"},{"key":"a"}]}"#, #""A""#, nil),
            (#"{"type":"enum","values":[{"key":"1"}]}"#, "1", nil),
            (#"{"type":"set"}"#, #"["b","a","b"]"#, .set(["a", "b"])), (#"{"type":"set"}"#, "[]", .set([])),
            (#"{"type":"set"}"#, #""a""#, nil), (#"{"type":"set"}"#, #"["a",1]"#, nil),
            (#"{"type":"set"}"#, #"[" a"]"#, nil),
            (#"{"type":"set","values":[{"key":"a"}]}"#, #"["a"]"#, .set(["a"])),
            (#"{"type":"set","values":[{"key":"a"}]}"#, #"["b"]"#, nil),
            (#"{"type":"text"}"#, #"" Istria ""#, .text("Istria")), (#"{"type":"text"}"#, #""e\u0301""#, .text("é")),
            (#"{"type":"text"}"#, #""  ""#, nil), (#"{"type":"text"}"#, #""a\nb""#, nil),
            (#"{"type":"text"}"#, "7", nil),
            (#"{"type":"boolean"}"#, "true", .boolean(true)), (#"{"type":"boolean"}"#, "0", nil),
            (#"{"type":"date"}"#, #""1970-01-02""#, .date(1)), (#"{"type":"date"}"#, #""1969-12-31""#, .date(-1)),
            (#"{"type":"date"}"#, #""2026-02-29""#, nil), (#"{"type":"date"}"#, #""2026-03-01T00:00:00Z""#, nil),
            (#"{"type":"date"}"#, #""2026-3-01""#, nil),
            (#"{"type":"ratio","numerator":"price","denominator":["quantity"]}"#, "1", nil),
        ] as [(String, String, AttributeValue?)]
    )
    func values(_ type: String, _ json: String, _ expected: AttributeValue?) throws {
        let definition = try Self.definition(type)
        let value = try Self.parse(json)
        if let expected {
            #expect(try definition.value(value) == expected)
        } else {
            let mismatch = #expect(throws: AttributeMismatch.self) { try definition.value(value) }
            #expect(mismatch?.expected.isEmpty == false)
        }
        #expect(try definition.value(.null) == nil)
    }

    @Test("Texts and sets have limits")
    func limits() throws {
        func texts(_ count: Int) -> JSONValue { .array((0..<count).map { .string("t\($0)") }) }
        let set = try Self.definition(#"{"type":"set"}"#)
        _ = try set.value(texts(AttributeValue.setLimit))
        #expect(throws: AttributeMismatch.self) { try set.value(texts(AttributeValue.setLimit + 1)) }
        let text = try Self.definition(#"{"type":"text"}"#)
        _ = try text.value(.string(String(repeating: "x", count: AttributeValue.textLimit)))
        #expect(throws: AttributeMismatch.self) {
            try text.value(.string(String(repeating: "x", count: AttributeValue.textLimit + 1)))
        }
    }

    @Test("A write is refused for a changed value of another type, and the field names it")
    func checks() throws {
        let set = try Self.set([("rating", #"{"type":"number","decimals":1}"#), ("vegan", #"{"type":"boolean"}"#)])
        try Self.check(#"{"rating":4.5,"vegan":true,"own":{"x":[1]}}"#, replacing: nil, against: set)
        try Self.check(#"{"rating":null}"#, replacing: nil, against: set)
        // Stored values of another type are kept until they change.
        let stored = #"{"rating": "good", "vegan": true}"#
        try Self.check(#"{"rating":"good","vegan":false}"#, replacing: stored, against: set)
        for new in [#"{"rating":"better","vegan":true}"#, #"{"rating":4.55}"#] {
            let error = #expect(throws: CatalogError.self) { try Self.check(new, replacing: stored, against: set) }
            guard case .unprocessable("attributes.rating", let detail)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
            #expect(detail.contains("at most 1 decimal ") && detail.contains("got"))
        }
        #expect(throws: CatalogError.self) { try Self.check(#"{"vegan":1}"#, replacing: nil, against: set) }
        try Self.check(#"{"rating":"good"}"#, replacing: nil, against: .none)
    }

    @Test(
        "A value in another spelling is unchanged, and every other value is changed",
        arguments: [
            ("4.5", "4.50", true), ("4.5", "45e-1", true), ("4.5", "0.45E+1", true), ("100", "1e2", true),
            ("0", "-0.00", true), ("0", "0e5", true), ("1e64", "10e63", true), ("-1.5", "-15e-1", true),
            ("12345678901234567890123456789012345678901", "12345678901234567890123456789012345678901.0", true),
            ("4.5", "4.6", false), ("4.5", "-4.5", false), ("45", "450", false), ("1e64", "1e63", false),
            ("1", #""1""#, false), ("0.5", "5", false), ("1e99999999999999999999", "1", false),
            (#"{"a":1,"b":[2.0]}"#, #"{"b":[2],"a":1}"#, true), (#"{"a":1}"#, #"{"a":1,"b":1}"#, false),
            (#"{"a":1,"b":1}"#, #"{"a":1,"c":1}"#, false), ("[1,2]", "[2,1]", false), ("[1]", "[1,1]", false),
            (#""a""#, #""a""#, true), (#""a""#, #""b""#, false), ("true", "false", false),
        ]
    )
    func respelled(_ old: String, _ new: String, _ isSame: Bool) throws {
        for (a, b) in [(old, new), (new, old)] {
            let changed = try ChangedAttributes(#"{"x":1,"rating":\#(b)}"#, replacing: #"{"rating":\#(a)}"#)
            #expect(changed.names.map(\.text) == (isSame ? ["x"] : ["x", "rating"]), "\(a) \(b)")
        }
        #expect(try ChangedAttributes(#"{"rating":\#(new)}"#, replacing: nil).names.map(\.text) == ["rating"])
    }

    @Test("Numbers are the same exactly if they are so as decimals, in any spelling")
    func respelledNumbers() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            // Two numbers below 100 with two decimals; equal ones are frequent.
            let numbers = (0..<2).map { _ in
                Int.random(in: -30...30, using: &generator) * [1, 10, 100].randomElement(using: &generator)!
            }
            func spelled(_ number: Int) -> String {
                let (sign, digits) = (number < 0 ? "-" : "", "\(number.magnitude)")
                switch Int.random(in: 0...2, using: &generator) {
                case 0: return sign + digits + "e-2"
                case 1: return sign + "0." + String(repeating: "0", count: 6 - digits.count) + digits + "00E+4"
                default:
                    return sign + "\(number.magnitude / 100)." + (number.magnitude % 100 < 10 ? "0" : "")
                        + "\(number.magnitude % 100)"
                }
            }
            let texts = numbers.map(spelled)
            let changed = try ChangedAttributes(#"{"x":\#(texts[1])}"#, replacing: #"{"x":\#(texts[0])}"#)
            #expect(changed.names.isEmpty == (numbers[0] == numbers[1]), "\(texts)")
        }
    }

    @Test("Nulls, and members that no attribute can have, are not changed attributes")
    func changedNames() throws {
        let names = try ChangedAttributes(#"{"a":null,"B":1,"c":1,"d-e":1,"f":[]}"#, replacing: nil).names
        #expect(names.map(\.text) == ["c", "f"])
        #expect(try ChangedAttributes("{}", replacing: #"{"a":1}"#).names.isEmpty)
        #expect(throws: CatalogError.self) { try ChangedAttributes("{", replacing: nil) }
    }

    @Test("A ratio is computed from the price, the quantity and numbers, and is missing without one of them")
    func ratios() throws {
        let set = try Self.set([
            ("protein", #"{"type":"number","decimals":1}"#),
            ("per_protein", #"{"type":"ratio","numerator":"price","denominator":["protein","quantity"],"scale":100}"#),
            ("density", #"{"type":"ratio","numerator":"protein","denominator":["quantity"]}"#),
            ("unit", #"{"type":"ratio","numerator":"price","denominator":["quantity"]}"#),
        ])
        let size = try Size(amount: ExactDecimal(500), unit: .g, packs: 1, drained: nil, isApproximate: false)
        let milk = Product(sku: SKU("milk")!, name: "Milk", priceMinor: 300, size: size)
        let attributes = try Self.parse(#"{"protein":3.5}"#)
        func value(_ name: String, _ product: Product, _ members: JSONValue) -> AttributeValue? {
            set.value(AttributeName(name)!, of: product, members)
        }
        let quantity: Int128 = 500 * 100_000_000_000_000
        #expect(value("per_protein", milk, attributes) == .ratio(AttributeFraction(300, over: 35 * quantity)!))
        #expect(value("density", milk, attributes) == .ratio(AttributeFraction(35, over: quantity)!))
        #expect(value("unit", milk, .object([])) == .ratio(AttributeFraction(3, over: quantity / 100)!))
        #expect(value("protein", milk, attributes) == .number(35))
        for members in ["{}", #"{"protein":0}"#, #"{"protein":"3.5"}"#] {
            #expect(value("per_protein", milk, try Self.parse(members)) == nil)
        }
        var other = milk
        other.priceMinor = nil
        #expect(value("per_protein", other, attributes) == nil)
        (other.priceMinor, other.size) = (300, nil)
        #expect(value("unit", other, attributes) == nil)
        #expect(value("other", milk, attributes) == nil)
    }

    @Test("Fractions compare as whole numbers of any size do")
    func fractions() {
        var generator = SeededGenerator(seed: 7)
        func random(_ digits: Int) -> Int128 {
            (0..<Int.random(in: 0...digits, using: &generator)).reduce(Int128(0)) { number, _ in
                number * 10 + Int128(Int.random(in: 0...9, using: &generator))
            }
        }
        for _ in 0..<2000 {
            let (a, b) = (random(15) * (Bool.random(using: &generator) ? 1 : -1), random(38))
            let factor = random(2)
            // Half of the pairs are equal, in other terms.
            let isMultiple = Bool.random(using: &generator) && b < Int128.max / 100
            let (c, d) = isMultiple ? (a * factor, b * factor) : (random(15), random(38))
            let (left, right) = (AttributeFraction(a, over: b), AttributeFraction(c, over: d))
            #expect((left == nil) == (b == 0) && (right == nil) == (d == 0))
            guard let left, let right else { continue }
            let (ad, cb) = (Self.product(a, d), Self.product(c, b))
            #expect((left == right) == (ad == cb))
            #expect((left < right) == Self.isLess(ad, cb))
            if left == right { #expect(left.hashValue == right.hashValue) }
        }
        #expect(AttributeFraction(1, over: -2)! < AttributeFraction(-1, over: 3)!)
        #expect(AttributeFraction(1, over: .min) == nil && AttributeFraction(.min, over: 1) == nil)
    }

    /// A product as its sign and decimal digits, computed as on paper.
    private static func product(_ a: Int128, _ b: Int128) -> (isNegative: Bool, digits: [Int]) {
        let (left, right) = (digits(a), digits(b))
        var result = Array(repeating: 0, count: left.count + right.count)
        for (i, x) in left.enumerated() { for (j, y) in right.enumerated() { result[i + j] += x * y } }
        for index in result.indices.dropLast() {
            result[index + 1] += result[index] / 10
            result[index] %= 10
        }
        while result.count > 1, result.last == 0 { result.removeLast() }
        return ((a < 0) != (b < 0) && result != [0], result.reversed())
    }

    private static func digits(_ number: Int128) -> [Int] {
        "\(number.magnitude)".reversed().map { $0.wholeNumberValue! }
    }

    private static func isLess(
        _ a: (isNegative: Bool, digits: [Int]),
        _ b: (isNegative: Bool, digits: [Int])
    ) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        let isShorter =
            a.digits.count == b.digits.count
            ? a.digits.lexicographicallyPrecedes(b.digits) : a.digits.count < b.digits.count
        return a.isNegative ? !isShorter && a.digits != b.digits : isShorter
    }
}
