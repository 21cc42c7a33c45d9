import Catalog
import Ordering
import Testing

@testable import Shelves

/// Views and facets of the products that a search finds, with filters.
@Suite struct SearchViewTests {
    private static let currency = Currency("EUR")!

    private static func request(_ sort: String, _ filter: Filter = .none) throws -> ViewRequest {
        ViewRequest(
            sort: try Sort.parse(sort, allowsRelevance: true),
            filter: filter,
            dimension: .mass,
            sortsSoldOutLast: true,
            currency: currency
        )
    }

    @Test(
        "A filtered view is a part of the whole one in each sort, and facets count the products of both",
        arguments: 0..<4
    )
    func filters(_ seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(400 + seed))
        let catalog = RandomCatalog(80, using: &generator)
        let table = catalog.table
        let index = SearchIndex(table, inflection: catalog.inflection)
        var counted = 0
        for _ in 0..<20 {
            guard let query = try? SearchQuery(catalog.query(using: &generator)) else { continue }
            let matches = index.matches(Search(query, catalog.rules))
            let found = matches.rows.map { table.product(Int($0))! }
            let brand = found.first?.brand ?? ""
            let filter = try Filter(
                query: Bool.random(using: &generator) ? "in_stock=true" : "brand=\(PercentEncoding.encode(brand))"
            )
            for sort in ["-relevance", "-relevance,name", "price", "-name", "-popularity,price"] {
                let whole = table.view(try Self.request(sort), matches)
                let kept = table.view(try Self.request(sort, filter), matches)
                #expect(Set(whole.rows) == Set(matches.rows))
                let expected = whole.rows.filter { filter.accepts(table.product(Int($0))!, in: Self.currency) }
                #expect(kept.rows == expected, "\(query.text) by \(sort)")
            }
            let facets = table.facets([.brand, .inStock], filter, in: Self.currency, of: matches)
            let left = found.filter { filter.accepts($0, in: Self.currency) }
            #expect(facets.total == left.count)
            let others = found.filter { filter.without([.brand]).accepts($0, in: Self.currency) }
            let brands = Dictionary(others.map { ($0.brand ?? "", 1) }, uniquingKeysWith: +)
            #expect(Dictionary(uniqueKeysWithValues: facets.brands.map { ($0.value, $0.count) }) == brands)
            let stocked = found.filter { filter.without([.inStock]).accepts($0, in: Self.currency) }
            #expect(facets.inStock == stocked.count(where: \.inStock))
            #expect(facets.inStock + facets.soldOut == stocked.count)
            counted += left.count
        }
        #expect(counted > 0)
    }

    @Test("Of equally relevant products, the keys of the sort decide, then popularity, then the name")
    func relevance() throws {
        func product(_ sku: String, _ name: String, price: Int64, popularity: Double) -> Product {
            Product(sku: SKU(sku)!, name: name, priceMinor: price, popularity: Popularity(log2: popularity))
        }
        let products = [
            product("a", "Milk", price: 3, popularity: 0), product("b", "Milk", price: 2, popularity: 1),
            product("c", "Milk", price: 3, popularity: 2), product("d", "Milk", price: 2, popularity: 1),
            product("e", "Oat milk", price: 1, popularity: 9),
        ]
        let table = ShelfTable(products.map { TableRow($0, position: [1]) { Array($0.utf8) } })
        let matches = SearchIndex(table).matches(Search(try SearchQuery("milk")))
        for (sort, skus) in [
            ("-relevance", "cbdae"), ("-relevance,price", "bdcae"), ("-relevance,-price", "cabde"),
            ("-relevance,popularity", "abdce"), ("price,-popularity", "ebdca"),
        ] {
            let view = table.view(try Self.request(sort), matches)
            #expect(view.skus(table).joined() == skus, "\(sort)")
            for (number, row) in view.rows.enumerated() {
                let values = table.values(Int(row), in: view)
                #expect(values.count == view.request.sort.comparedTerms.count)
                let cursor = Cursor(
                    scope: "",
                    sort: sort,
                    source: .query,
                    values: values,
                    name: table.name(Int(row)),
                    id: table.sku(Int(row)).text
                )
                #expect(table.index(after: ViewPlace(cursor) { Array($0.utf8) }, in: view) == number + 1)
            }
        }
    }

    @Test("Texts of attributes are found in their rows, and highlighted with their names and places")
    func attributes() throws {
        let definitions = [
            try AttributeDefinition(name: AttributeName("origin")!, form: .text, isSearchable: true),
            try AttributeDefinition(name: AttributeName("labels")!, form: .set(nil), isSearchable: true),
            try AttributeDefinition(
                name: AttributeName("grade")!,
                form: .enumeration([
                    AttributeOption(key: "fine", title: .none), AttributeOption(key: "rough", title: .none),
                ]),
                isSearchable: true
            ),
            try AttributeDefinition(name: AttributeName("secret")!, form: .text),
        ]
        let attributes = ResolvedAttributes(AttributeSet(deployment: definitions.map { .definition($0) }))
        #expect(attributes.searchable.map(\.name.text) == ["grade", "labels", "origin"])
        var milk = Product(sku: SKU("a")!, name: "Milk")
        milk.attributes = #"{"origin":"Istria","labels":["vegan","fine oats"],"grade":"rough","secret":"hidden"}"#
        var brie = Product(sku: SKU("b")!, name: "Brie")
        brie.attributes = #"{"origin":7,"grade":"fine"}"#
        let table = ShelfTable([brie, milk].map { TableRow($0, position: [1]) { Array($0.utf8) } })
        let texts = table.searchedTexts(of: attributes.searchable)
        #expect(texts.map(\.text) == ["fine", "rough", "fine oats", "vegan", "Istria"])
        #expect(texts.map(\.row) == [0, 1, 1, 1, 1])
        let index = SearchIndex(table, texts: texts)
        for (text, rows) in [("istria", [1]), ("fine", [0, 1]), ("vegan milk", [1]), ("hidden", []), ("7", [])] {
            #expect(index.matches(Search(try SearchQuery(text))).rows == rows.map { UInt32($0) }, "\(text)")
        }
        let search = Search(try SearchQuery("fine istr milk"))
        #expect(
            search.matches(within: .typo, in: milk, searchable: attributes.searchable) == [
                ProductMatch(.name, 0..<4), ProductMatch(.attribute(AttributeName("labels")!, 1), 0..<4),
                ProductMatch(.attribute(AttributeName("origin")!, nil), 0..<4),
            ]
        )
        var (other, unsearched) = (milk, milk)
        other.attributes = #"{"origin":"Italy"}"#
        unsearched.attributes = #"{"secret":"found", "origin":"Istria","labels":["vegan","fine oats"],"grade":"rough"}"#
        for (changed, isShared) in [(milk, true), (other, false), (unsearched, true)] {
            let changed = ShelfTable([brie, changed].map { TableRow($0, position: [1]) { Array($0.utf8) } })
            #expect(SearchIndex.isShared(by: table, and: changed, attributes.searchable) == isShared)
            #expect(SearchIndex.isShared(by: table, and: changed))
        }
    }
}
