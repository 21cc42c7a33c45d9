import Catalog
import FoundationEssentials
import JSON
import Ordering
import TestSupport
import Testing

/// Sorts compared with naive ones: stable insertion sorts, from the least significant key to the first, group by group.
@Suite(.timeLimit(.minutes(15))) struct NaiveOrderTests {
    /// Inserts each element before the first one that it must precede, so equal elements keep their order.
    private static func inserted<Element>(
        _ elements: [Element],
        _ precedes: (Element, Element) -> Bool
    ) -> [Element] {
        var sorted: [Element] = []
        for element in elements {
            sorted.insert(element, at: sorted.firstIndex { precedes(element, $0) } ?? sorted.endIndex)
        }
        return sorted
    }

    /// A value that is compared within its group.
    private struct Value {
        var group: [Int]
        var value: Decimal
        /// The value is divided by it.
        var divisor: Decimal = 1

        func isLess(than other: Value) -> Bool { value * other.divisor < other.value * divisor }
    }

    /// Returns elements with groups in order, whatever the direction, and those without a value last. Equal elements keep their order.
    private static func arranged<Element>(
        _ elements: [Element],
        isDescending: Bool,
        _ value: (Element) -> Value?
    ) -> [Element] {
        let known = elements.compactMap { element in value(element).map { (element: element, value: $0) } }
        let groups = Dictionary(grouping: known, by: { $0.value.group })
        let order = groups.keys.sorted { $0.lexicographicallyPrecedes($1) }
        let sorted = order.flatMap { group in
            inserted(groups[group]!) { a, b in
                isDescending ? b.value.isLess(than: a.value) : a.value.isLess(than: b.value)
            }
        }
        return sorted.map { $0.element } + elements.filter { value($0) == nil }
    }

    private static func unitPrice(_ product: Product) -> (dimension: Dimension, price: Decimal, quantity: Decimal)? {
        guard let price = product.priceMinor, let size = product.size else { return nil }
        return (size.unit.dimension, Decimal(price), Decimal(string: size.baseQuantity.description)!)
    }

    // MARK: - Items of lists

    /// Items of two stores with different currencies, of products in several dimensions, and without a product.
    private static func items(
        _ generator: inout SeededGenerator
    ) throws -> (items: [ListItem], facts: ListFacts) {
        // The order of the currencies is not that of the stores.
        let stores = [("a", "SEK"), ("b", "EUR")].map {
            Store(key: CatalogKey($0.0)!, title: $0.0, currency: Currency($0.1)!)
        }
        var facts = ListFacts()
        var references: [ProductReference?] = [nil]
        for store in stores {
            for number in 0..<14 {
                let units: [MeasureUnit] = [.g, .ml, .piece]
                let size = try Size(
                    amount: ExactDecimal(Int128([100, 200, 300].randomElement(using: &generator)!)),
                    unit: units.randomElement(using: &generator)!
                )
                let product = Product(
                    sku: SKU("p\(number)")!,
                    name: ["Milk", "Oats", "Tea"].randomElement(using: &generator)!,
                    priceMinor: [nil, 100, 200, 200, 300].randomElement(using: &generator)!,
                    size: Int.random(in: 0..<4, using: &generator) == 0 ? nil : size
                )
                let reference = ProductReference(store.key, product.sku)
                references.append(reference)
                // Some products are deleted, and some are on no shelf.
                if number % 7 > 0 { facts.products[reference] = (store, product) }
                if number % 5 > 0 { facts.aisles[reference] = Int.random(in: 0..<6, using: &generator) }
            }
        }
        facts.ranks = ["Milk": 0, "Oats": 1, "Tea": 2, "Apples": 3]
        let time = Timestamp(microseconds: 0)
        let keys = PathKey.appending(40, after: nil).shuffled(using: &generator)
        let items = keys.map { key in
            ListItem(
                id: .random(),
                product: references.randomElement(using: &generator)!,
                text: ["Apples", "Milk", "unranked"].randomElement(using: &generator)!,
                isChecked: Bool.random(using: &generator),
                key: key,
                createdAt: time,
                modifiedAt: time,
                version: 1
            )
        }
        return (items, facts)
    }

    private static func value(of item: ListItem, _ sort: ListItemSort, _ facts: ListFacts) -> Value? {
        let known = item.product.flatMap { facts.products[$0] }
        let currency = known.map { $0.store.currency.code == "EUR" ? 0 : 1 } ?? 2
        switch sort {
        case .position: return nil
        case .name, .nameDescending:
            return facts.ranks[known?.product.name ?? item.text].map { Value(group: [], value: Decimal($0)) }
        case .shelf:
            guard let reference = item.product, let aisle = facts.aisles[reference] else { return nil }
            return Value(group: [reference.store.text == "a" ? 0 : 1], value: Decimal(aisle))
        case .price, .priceDescending:
            return (known?.product.priceMinor).map { Value(group: [currency], value: Decimal($0)) }
        case .unitPrice, .unitPriceDescending:
            guard let product = known?.product, let found = unitPrice(product) else { return nil }
            let dimension = Dimension.allCases.firstIndex(of: found.dimension)!
            return Value(group: [currency, dimension], value: found.price, divisor: found.quantity)
        }
    }

    @Test(
        "Items of a list are grouped by currency and dimension, then sorted, and ties keep the manual order",
        arguments: ListItemSort.allCases
    )
    func listItems(_ sort: ListItemSort) throws {
        for seed in 1...8 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let (items, facts) = try Self.items(&generator)
            let manual = Self.inserted(items) { $0.key < $1.key }
            func expected(_ items: [ListItem]) -> [UniqueID] {
                Self.arranged(items, isDescending: sort.rawValue.hasPrefix("-")) { Self.value(of: $0, sort, facts) }
                    .map(\.id)
            }
            #expect(sort.order(items, sinks: false, facts).map(\.id) == expected(manual), "seed \(seed)")
            let sunk = expected(manual.filter { !$0.isChecked }) + expected(manual.filter(\.isChecked))
            #expect(sort.order(items, sinks: true, facts).map(\.id) == sunk, "seed \(seed), sunk")
        }
    }

    @Test(
        "A user's lists are sorted by time, by name or by hand, and ties keep the manual order",
        arguments: ListSort.allCases
    )
    func lists(_ sort: ListSort) {
        var generator = SeededGenerator(seed: 5)
        let ranks = ["B": 0, "a": 1, "C": 2]
        let entries = PathKey.appending(30, after: nil).shuffled(using: &generator).map { key in
            let list = UserList(
                id: .random(),
                owner: UserID("ann")!,
                name: ["a", "B", "C"].randomElement(using: &generator)!,
                createdAt: Timestamp(microseconds: 0),
                modifiedAt: Timestamp(microseconds: Int64.random(in: 1...4, using: &generator))
            )
            let membership = ListMembership(list: list, role: .owner, key: key, revision: 1)
            return ListsPage.Entry(membership: membership, items: 0, checked: 0)
        }
        let manual = Self.inserted(entries) { $0.membership.key < $1.membership.key }
        let expected =
            switch sort {
            case .manual: manual
            case .name: Self.inserted(manual) { ranks[$0.membership.list.name]! < ranks[$1.membership.list.name]! }
            case .lastModified: Self.inserted(manual) { $0.membership.list.modifiedAt > $1.membership.list.modifiedAt }
            }
        let page = ListsPage(entries: entries, revision: 1, isResync: false).sorted(by: sort, ranks)
        #expect(page.entries == expected)
        #expect(page.sort == sort)
    }

    // MARK: - Products

    private static func bytes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    @Sendable private static func compare(_ a: String, _ b: String) -> Int { bytes(a, b) ? -1 : bytes(b, a) ? 1 : 0 }

    /// Sorts stably by one key.
    private static func sorted(_ listings: [Listing], by term: Sort.Term, _ dimension: Dimension) -> [Listing] {
        let isDescending = term.direction == .descending
        func byNumber(_ value: (Product) -> Int64?) -> [Listing] {
            arranged(listings, isDescending: isDescending) {
                value($0.product).map { Value(group: [], value: Decimal($0)) }
            }
        }
        func byText(_ text: (Product) -> String?) -> [Listing] {
            let known = inserted(listings.filter { text($0.product) != nil }) { a, b in
                let (x, y) = (text(a.product)!, text(b.product)!)
                return isDescending ? bytes(y, x) : bytes(x, y)
            }
            return known + listings.filter { text($0.product) == nil }
        }
        switch term.key {
        case .price: return byNumber { $0.priceMinor }
        case .created: return byNumber { $0.createdAt.microseconds }
        case .modified: return byNumber { $0.modifiedAt.microseconds }
        case .tags: return byNumber { Int64($0.tags.count) }
        case .brand: return byText { $0.brand }
        case .name: return byText { $0.name }
        case .popularity:
            return inserted(listings) { a, b in
                let (x, y) = (a.product.popularity.log2, b.product.popularity.log2)
                return isDescending ? x > y : x < y
            }
        case .position: return inserted(listings) { $0.position.lexicographicallyPrecedes($1.position) }
        case .unitPrice:
            return arranged(listings, isDescending: isDescending) {
                unitPrice($0.product).map {
                    // The dimension of the shelf comes first.
                    let place = $0.dimension == dimension ? -1 : Dimension.allCases.firstIndex(of: $0.dimension)!
                    return Value(group: [place], value: $0.price, divisor: $0.quantity)
                }
            }
        case .relevance, .closeness: preconditionFailure("a product alone has no relevance")
        case .attribute(let attribute):
            if attribute.name.text == "origin" { return byText { self.text($0, "origin") } }
            return arranged(listings, isDescending: isDescending) { self.value($0.product, attribute.name.text) }
        }
    }

    // MARK: - Attributes

    private static func member(_ product: Product, _ name: String) -> JSONValue? {
        (try? JSONReader.parse(Array(product.attributes.utf8)))?[name]
    }

    private static func text(_ product: Product, _ name: String) -> String? {
        guard case .string(let text)? = member(product, name) else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let trimmed = words.drop { $0.isEmpty }.reversed().drop { $0.isEmpty }.reversed().joined(separator: " ")
        return trimmed.isEmpty ? nil : trimmed.composed
    }

    /// A number with at most so many decimals; nil for another value.
    private static func number(_ product: Product, _ name: String, decimals: Int) -> Decimal? {
        guard case .number(let text)? = member(product, name), let number = Decimal(string: text) else { return nil }
        let scaled = (0..<decimals).reduce(number) { number, _ in number * 10 }
        return "\(scaled)".contains(".") || abs(scaled) >= 1_000_000_000_000_000 ? nil : number
    }

    /// The value of one of the sample attributes but `origin`.
    private static func value(_ product: Product, _ name: String) -> Value? {
        func ratio(_ numerator: Decimal?, _ denominator: Decimal?) -> Value? {
            guard let numerator, let denominator, denominator != 0 else { return nil }
            return Value(group: [], value: denominator < 0 ? -numerator : numerator, divisor: abs(denominator))
        }
        func one(_ number: Decimal?) -> Value? { ratio(number, 1) }
        let protein = number(product, "protein", decimals: 2)
        switch name {
        case "rating": return one(number(product, name, decimals: 1))
        case "protein": return one(protein)
        case "price": return one(number(product, name, decimals: 0))
        case "grade":
            return one(text(product, name).flatMap { ["d", "a", "b", "c"].firstIndex(of: $0) }.map { Decimal($0) })
        case "organic": return one(["true": 0, "false": 1][member(product, name)?.text ?? ""])
        case "harvest":
            // The dates of one length are in the order of their texts. One of them does not exist.
            let day = text(product, name).flatMap {
                $0 == "2026-02-30" ? nil : Decimal(string: $0.filter { $0 != "-" })
            }
            return one(day)
        case "protein_price":
            let quantity = product.size.map { Decimal(string: $0.baseQuantity.description)! }
            return ratio(product.priceMinor.map { Decimal($0) }, protein.flatMap { own in quantity.map { own * $0 } })
        case "worth": return ratio(number(product, "rating", decimals: 1), protein)
        default: return nil
        }
    }

    @Test(
        "Products are sorted by attributes, and those without a value come last in both directions",
        arguments: ResolvedAttributes.sample.sortKeys.flatMap { [$0.name, "-" + $0.name] } + [
            "grade,-rating", "-organic,harvest,price", "brand,-worth", "-origin,attributes.price,grade,rating",
        ]
    )
    func attributes(_ text: String) throws {
        let sort = try Sort.parse(text).resolved(in: .sample)
        #expect(sort.description == text)
        for seed in 1...3 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let listings = (0..<50).map { number in
                var product = Product.random(number, using: &generator)
                product.attributes = Product.randomAttributes(using: &generator)
                return Listing(product: product, position: [UInt8(number)], isSoldOut: false)
            }
            let first = sort.terms[0]
            let isNatural = (first.direction == .descending) == ["rating", "harvest", "worth"].contains(first.key.name)
            var expected = Self.inserted(listings) { a, b in
                let (x, y) = (a.product, b.product)
                let isBefore =
                    x.name.utf8.elementsEqual(y.name.utf8)
                    ? Self.bytes(x.sku.text, y.sku.text) : Self.bytes(x.name, y.name)
                return isBefore == isNatural && x.sku != y.sku
            }
            for term in sort.terms.reversed() { expected = Self.sorted(expected, by: term, .mass) }
            let sorted = sort.sorted(listings.shuffled(using: &generator), dimension: .mass, collate: Self.compare)
            #expect(sorted.map(\.product.sku) == expected.map(\.product.sku), "seed \(seed)")
        }
    }

    @Test("Random products have several values of each sort key", arguments: SortKey.allCases)
    func randomValues(_ key: SortKey) {
        var generator = SeededGenerator(seed: 1)
        var values: Set<SortValue> = []
        for number in 0..<60 {
            let product = Product.random(number, using: &generator)
            values.insert(key.value(of: Listing(product: product, position: [UInt8(number)], isSoldOut: false)))
        }
        values.remove(.missing)
        #expect(values.count > 1, "add values to Generators.swift")
    }

    @Test(
        "Products are sorted by availability, then by each key of the sort, then by name and SKU",
        arguments: Sort.allSingle.map(\.description) + [
            "brand,-price", "-brand,price", "unit_price,-name", "-unit_price,tags,name", "-tags,unit_price,-created",
            "price,position", "position,price", "-popularity,brand,-unit_price",
        ]
    )
    func products(_ text: String) throws {
        let sort = try Sort.parse(text)
        for seed in 1...3 {
            var generator = SeededGenerator(seed: UInt64(seed))
            let dimension = Dimension.allCases.randomElement(using: &generator)!
            let listings = (0..<60).map { number in
                Listing(
                    product: .random(number, using: &generator),
                    position: [UInt8.random(in: 0...255, using: &generator), UInt8(number)],
                    isSoldOut: Int.random(in: 0..<4, using: &generator) == 0
                )
            }
            // A sort against the natural direction of its first key reverses the tie-breakers, too.
            let first = sort.terms[0]
            let isNatural = first.direction == first.key.naturalDirection
            var expected = Self.inserted(listings) { a, b in
                let (x, y) = (a.product, b.product)
                let isBefore =
                    x.name.utf8.elementsEqual(y.name.utf8)
                    ? Self.bytes(x.sku.text, y.sku.text) : Self.bytes(x.name, y.name)
                return isBefore == isNatural && x.sku != y.sku
            }
            for term in sort.terms.reversed() { expected = Self.sorted(expected, by: term, dimension) }
            if first.key != .position { expected = expected.filter { !$0.isSoldOut } + expected.filter(\.isSoldOut) }
            let sorted = sort.sorted(listings.shuffled(using: &generator), dimension: dimension, collate: Self.compare)
            #expect(sorted.map(\.product.sku) == expected.map(\.product.sku), "seed \(seed)")
        }
    }
}
