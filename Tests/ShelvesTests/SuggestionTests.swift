import Catalog
import Testing

@testable import Shelves

/// Suggestions from a table of products and the titles of shelves.
@Suite struct SuggestionTests {
    /// A product: its name, brand, the logarithm of its popularity, and whether it is available.
    typealias Item = (name: String, brand: String?, popularity: Double, inStock: Bool)

    private static let items: [Item] = [
        ("Milk", "Arla", 1, true), ("Oat milk", "Oatly", 3, true), ("Milk chocolate", "Milka", 2, true),
        ("Buttermilk", nil, 9, true), ("Condensed milk", "Arla", 8, false), ("Soda", nil, 0, true),
    ]

    private static func shelf(_ key: String, _ title: String, _ count: Int) -> SuggestionSource.Shelf {
        SuggestionSource.Shelf(key: CatalogKey(key)!, title: title, productCount: count)
    }

    private static func source(
        _ items: [Item] = items,
        _ rules: SearchRules = SearchRules(),
        sortsSoldOutLast: Bool = true
    ) -> SuggestionSource {
        let table = ShelfTable(
            items.enumerated().map { number, item in
                var product = Product(sku: SKU("s-\(number)")!, name: item.name)
                (product.brand, product.inStock) = (item.brand, item.inStock)
                product.popularity = Popularity(log2: item.popularity)
                return TableRow(product, position: [1]) { Array($0.utf8) }
            }
        )
        let shelves = [
            shelf("dairy", "Milk & cheese", 4), shelf("vegan", "Vegan milk", 9), shelf("pasta", "Pasta", 20),
            shelf("a", "Milk alternatives", 4),
        ]
        return SuggestionSource(
            table,
            SearchIndex(table, inflection: rules.inflection),
            rules,
            shelves: shelves,
            sortsSoldOutLast: sortsSoldOutLast
        )
    }

    /// Returns the texts of one kind.
    private static func texts(
        _ kind: Suggestion.Kind,
        _ text: String,
        _ source: SuggestionSource = source(),
        limit: Int = 20
    ) throws -> [String] {
        let request = SuggestionRequest(store: CatalogKey("s")!, text: text, limit: limit)
        return try source.suggestions(for: request).filter { $0.subject.kind == kind }.map(\.text)
    }

    @Test("Products come by availability, relevance and popularity, and only as many as fit")
    func products() throws {
        // The names of the first two begin with the word. Parts of words are found from four letters on.
        #expect(try Self.texts(.product, "mil") == ["Milk chocolate", "Milk", "Oat milk", "Condensed milk"])
        let equal = Self.source(sortsSoldOutLast: false)
        #expect(try Self.texts(.product, "mil", equal) == ["Milk chocolate", "Milk", "Condensed milk", "Oat milk"])
        #expect(try Self.texts(.product, "mil", limit: 1) == ["Milk chocolate"])
        #expect(try Self.texts(.product, "oat mi") == ["Oat milk"])
        #expect(try Self.texts(.product, "xyz").isEmpty)
        for text in ["hocola", "chocolte", "CHOCOLÁTE"] {
            #expect(try Self.texts(.product, text) == ["Milk chocolate"], "\(text)")
        }
    }

    @Test("Words, brands and shelves complete the last word")
    func others() throws {
        #expect(try Self.texts(.word, "mil") == ["milk", "milka"])
        #expect(try Self.texts(.word, "fresh mil").isEmpty)
        #expect(try Self.texts(.word, "oat mil") == ["oat milk"])
        #expect(try Self.texts(.brand, "mil") == ["Milka"])
        // Those with more products come first, then by title.
        #expect(try Self.texts(.shelf, "mil") == ["Vegan milk", "Milk & cheese", "Milk alternatives"])
        #expect(try Self.texts(.shelf, "vegan mi") == ["Vegan milk"])
        #expect(try Self.texts(.shelf, "veg milk").isEmpty, "only the last word may be incomplete")
        #expect(try Self.texts(.shelf, "milk veg") == ["Vegan milk"])
    }

    @Test("The parts that match are those of a search")
    func matches() throws {
        let request = SuggestionRequest(store: CatalogKey("s")!, text: "MIL", limit: 20)
        let found = try Self.source().suggestions(for: request)
        func matches(_ text: String) -> [Range<Int>]? { found.first { $0.text == text }?.matches }
        #expect(matches("milk") == [0..<3] && matches("Vegan milk") == [6..<9] && matches("Milka") == [0..<3])
        #expect(matches("Oat milk") == [4..<7] && matches("Milk chocolate") == [0..<3])
    }

    @Test("Synonyms and forms of words find products")
    func rules() throws {
        let synonyms = try Synonyms(groups: [["pop", "soda"]], oneWay: [])
        let source = Self.source(Self.items, SearchRules(inflection: Inflection([.english]), synonyms: synonyms))
        #expect(try Self.texts(.product, "pops", source) == ["Soda"])
        #expect(try Self.texts(.product, "pop").isEmpty)
        let found = try source.suggestions(for: SuggestionRequest(store: CatalogKey("s")!, text: "pop"))
        #expect(found.map(\.matches) == [[0..<4]])
    }

    @Test("A word that is being typed is completed before it is inflected")
    func typedWords() throws {
        let rules = SearchRules(inflection: Inflection([.croatian]))
        let names = ["Doro", "Doru", "Dorina", "Dorina mini", "Jabuka", "Carte d'Or"]
        let source = Self.source(names.map { ($0, nil, 1, true) }, rules)
        #expect(try Self.texts(.product, "dori", source) == ["Dorina", "Dorina mini"])
        // No word begins with the plural.
        #expect(try Self.texts(.product, "jabuke", source) == ["Jabuka"])
        // Other words are finished.
        #expect(try Self.texts(.product, "dorine mini", source) == ["Dorina mini"])
    }

    @Test("Forms of the last word match unless a product with the other words completes it")
    func typedWordsInContext() throws {
        let rules = SearchRules(inflection: Inflection([.croatian]))
        func source(_ names: String...) -> SuggestionSource { Self.source(names.map { ($0, nil, 1, true) }, rules) }
        let unrelated = source("Mljevena kava", "Kavery")
        #expect(try Self.texts(.product, "mljevena kave", unrelated) == ["Mljevena kava"])
        #expect(try Self.texts(.product, "kave", unrelated) == ["Kavery"])
        // The word is finished.
        #expect(try Set(Self.texts(.product, "kave ", unrelated)) == ["Mljevena kava", "Kavery"])
        let related = source("Mljevena kava", "Mljevena Kavery")
        #expect(try Self.texts(.product, "mljevena kave", related) == ["Mljevena Kavery"])
        #expect(try Self.texts(.product, "kav kave", related) == ["Mljevena Kavery"])
        // Two words that are one word in a product complete it, too.
        let joined = source("Med kava", "Medkavery")
        #expect(try Self.texts(.product, "med kave", joined) == ["Medkavery"])
        #expect(try Set(Self.texts(.product, "med kave.", joined)) == ["Med kava", "Medkavery"])
    }

    @Test("Forms of the last word are highlighted only if they match")
    func typedHighlights() throws {
        func matches(_ text: String, _ name: String, _ language: InflectionLanguage) throws -> [Range<Int>]? {
            let source = Self.source([(name, nil, 1, true)], SearchRules(inflection: Inflection([language])))
            let found = try source.suggestions(for: SuggestionRequest(store: CatalogKey("s")!, text: text))
            return found.first { $0.text == name }?.matches
        }
        #expect(try matches("apple", "Apples", .english) == [0..<5])
        #expect(try matches("apple ", "Apples", .english) == [0..<6])
        #expect(try matches("apples", "Apple", .english) == [0..<5])
        #expect(try matches("dori", "Dorina Doru", .croatian) == [0..<4])
        #expect(try matches("dori ", "Dorina Doru", .croatian) == [0..<4, 7..<11])
        // The first word is finished.
        #expect(try matches("doro dori", "Dorina Doru", .croatian) == [0..<4, 7..<11])
    }

    @Test("A word of the query neither completes nor corrects another one")
    func repeatedWords() throws {
        let items: [Item] = [("Coca cola", nil, 9, true), ("Coca cake", nil, 8, true), ("Kola coca", nil, 1, true)]
        let source = Self.source(items)
        #expect(try Self.texts(.word, "coca c", source) == ["coca cola", "coca cake"])
        let table = ShelfTable(
            ["Coca cola", "Coca coca"].enumerated().map { number, name in
                TableRow(Product(sku: SKU("\(number)")!, name: name), position: [1]) { Array($0.utf8) }
            }
        )
        let index = SearchIndex(table)
        #expect(index.correction(Search(try SearchQuery("coca kola")), table)?.text == "coca cola")
        #expect(index.correction(Search(try SearchQuery("coca coka")), table)?.text == "coca cola")
    }

    @Test("Of equally relevant and popular products, the one whose name is closer comes first")
    func closeness() throws {
        let source = Self.source(["Aa bb milk cc", "Bb milk", "Aa milk cc"].map { ($0, nil, 1, true) })
        #expect(try Self.texts(.product, "milk", source) == ["Bb milk", "Aa milk cc", "Aa bb milk cc"])
    }

    @Test("A text without a word has no suggestions, and one that is too long is malformed")
    func texts() throws {
        for text in ["", " ", "-", "🍎"] {
            let request = SuggestionRequest(store: CatalogKey("s")!, text: text)
            #expect(try Self.source().suggestions(for: request).isEmpty)
        }
        for text in [String(repeating: "a", count: 101), "a b c d e f g h i"] {
            let request = SuggestionRequest(store: CatalogKey("s")!, text: text)
            let error = #expect(throws: CatalogError.self) { try Self.source().suggestions(for: request) }
            guard case .malformed("q", let detail, _, _)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
            #expect(detail.hasPrefix("q must have at most "))
        }
    }

    @Test("An empty store has only shelves")
    func emptyStore() throws {
        #expect(try Self.texts(.shelf, "mil", Self.source([])).count == 3)
        #expect(try Self.texts(.product, "mil", Self.source([])).isEmpty)
    }
}
