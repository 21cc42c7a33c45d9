import Catalog
import Ordering
import Testing

@testable import Shelves

@Suite struct SearchOracleTests {
    @Test(
        "Classes, products, relevance and missing words are those of the specification",
        arguments: 0..<8 as Range<UInt64>
    )
    func matching(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let catalog = RandomCatalog(Int.random(in: 0...40, using: &generator), using: &generator)
        let naive = NaiveSearch(products: catalog.products, inflection: catalog.inflection, synonyms: catalog.synonyms)
        let table = catalog.table
        let index = SearchIndex(table, inflection: catalog.inflection)
        let rules = SearchRules(inflection: catalog.inflection, synonyms: catalog.synonyms)
        var found = Set<SearchClass>()
        for _ in 0..<40 {
            let text = catalog.query(using: &generator)
            guard let query = try? SearchQuery(text) else { continue }
            let limits = [nil] + SearchClass.allCases.map(Optional.some)
            for (limit, expected) in zip(limits, naive.search(text, within: limits)) {
                let matches = index.matches(query, rules, within: limit)
                let rows = table.rowsByRelevance(matches)
                let outcome = NaiveSearch.Outcome(
                    searchClass: matches.classInUse,
                    matches: rows.map { row in
                        NaiveSearch.Match(
                            sku: table.sku(Int(row)).text,
                            relevance: matches.relevance(of: Int(row))!.rawValue
                        )
                    },
                    missing: matches.missingWords
                )
                #expect(outcome == expected, "\(text) \(String(describing: limit))")
                found.formUnion(matches.relevances.map(\.searchClass))
                #expect(matches.rows == matches.rows.sorted())
                // A cursor at a row has the rows after it after it.
                for (a, b) in zip(rows, rows.dropFirst()) {
                    let values = table.relevanceValues(Int(a), matches.relevance(of: Int(a))!)
                    #expect(table.compareRelevance(Int(b), matches.relevance(of: Int(b))!, with: values) >= 0)
                    #expect(table.compareRelevance(Int(a), matches.relevance(of: Int(a))!, with: values) == 0)
                }
            }
        }
        #expect(catalog.products.count < 20 || found.count > 2, "\(found)")
    }

    @Test("Highlights are those of the specification", arguments: 0..<5 as Range<UInt64>)
    func highlights(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 100 + seed)
        let catalog = RandomCatalog(40, using: &generator)
        let naive = NaiveSearch(products: catalog.products, inflection: catalog.inflection, synonyms: catalog.synonyms)
        let rules = SearchRules(inflection: catalog.inflection, synonyms: catalog.synonyms)
        var count = 0
        for _ in 0..<20 {
            let text = catalog.query(using: &generator)
            guard let query = try? SearchQuery(text) else { continue }
            for product in catalog.products {
                let limit = SearchClass.allCases.randomElement(using: &generator)!
                let found = rules.highlights(query, within: limit, in: SearchTexts(product))
                #expect(found == naive.highlights(text, within: limit, product), "\(text) \(product.name) \(limit)")
                count += found.count
            }
        }
        #expect(count > 100)
    }

    @Test("The words of random names are those of the specification")
    func folding() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            let text = RandomCatalog.text(6, using: &generator)
            let folded = FoldedText(text)
            let expected = NaiveSearch.words(text)
            #expect(folded.words.map { Array(folded[$0]) } == expected.map { Array($0.text.utf8) }, "\(text)")
            #expect(folded.words.map(\.source) == expected.map(\.source), "\(text)")
        }
    }

    @Test("Completions are the words that begin like the last one, by the popularity of their products")
    func completions() throws {
        var generator = SeededGenerator(seed: 9)
        var count = 0
        for _ in 0..<20 {
            let catalog = RandomCatalog(50, using: &generator)
            let table = catalog.table
            let index = SearchIndex(table)
            for _ in 0..<20 {
                let letters = String(catalog.query(using: &generator).prefix(2))
                guard let query = try? SearchQuery(letters), query.words.count == 1,
                    query.words[0].source.upperBound == letters.utf16.count
                else { continue }
                let wanted = Array(query.words[0].bytes)
                var weights: [[UInt8]: (purchases: Double, products: Int)] = [:]
                for row in 0..<table.count {
                    let product = table.product(row)!
                    let texts = [product.name] + [product.brand].compactMap { $0 } + product.tags
                    for word in Set(texts.flatMap(NaiveSearch.words).map { Array($0.text.utf8) })
                    where word.starts(with: wanted) && word != wanted {
                        let purchases = product.popularity.score(
                            day: Popularity.epochDay,
                            count: PopularityCount(metric: .decay, halfLifeDays: 1, newcomerBoost: 0)
                        )
                        let old = weights[word] ?? (0, 0)
                        weights[word] = (old.purchases + purchases, old.products + 1)
                    }
                }
                let expected = weights.sorted { a, b in
                    if a.value != b.value {
                        return (b.value.purchases, b.value.products) < (a.value.purchases, a.value.products)
                    }
                    return a.key.lexicographicallyPrecedes(b.key)
                }
                let found = index.completions(query, SearchRules(), table, limit: 100)
                #expect(found.map(\.products) == expected.map(\.value.products), "\(letters)")
                // The spelling of a word is that of a product.
                #expect(
                    found.map { NaiveSearch.words($0.word).map(\.text) }
                        == expected.map { [String(decoding: $0.key, as: UTF8.self)] }
                )
                #expect(index.completions(query, SearchRules(), table, limit: 2) == Array(found.prefix(2)))
                count += found.count
            }
        }
        #expect(count > 100)
    }

    @Test("A corrected query finds products, and only queries without a result need one")
    func corrections() throws {
        var generator = SeededGenerator(seed: 11)
        var count = 0
        for _ in 0..<10 {
            let catalog = RandomCatalog(40, using: &generator)
            let table = catalog.table
            let index = SearchIndex(table, inflection: catalog.inflection)
            let rules = SearchRules(inflection: catalog.inflection, synonyms: catalog.synonyms)
            for _ in 0..<60 {
                guard let query = try? SearchQuery(catalog.query(using: &generator)) else { continue }
                guard index.matches(query, rules).rows.isEmpty else { continue }
                guard let found = index.correction(query, rules, table) else { continue }
                let corrected = try SearchQuery(found.text)
                #expect(!index.matches(corrected, rules, within: .typo).rows.isEmpty, "\(query.text) \(found.text)")
                #expect(found.products > 0 && found.text != query.text && found.text.contains(found.word))
                count += 1
            }
        }
        #expect(count > 20)
    }
}

/// A catalog with words that are similar, folded or split, and many ties.
struct RandomCatalog {
    let products: [Product]
    let inflection: Inflection
    let synonyms: Synonyms

    private static let words = [
        "Milch", "Vollmilch", "milchig", "Mlich", "Straße", "STRASSE", "Ёжик", "ежик", "йогурт", "и\u{306}огурт",
        "Йогурты", "1,5", "1.50",
        "330ml", "A4", "O'Brien", "O’Brien", "so\u{AD}da", "🍎", "e\u{301}lan", "élan", "ﬁ", "Ｗｉ１", "1,000,000", "牛乳",
        "soda", "pop", "soft",
        "drink", "drinks", "apple", "apples", "berry", "berries", "Čaj", "Đumbir", "Øæ", "οσς", "0.50", "12.05.2026",
        "cola", "coca-cola", "5",
    ]

    /// Returns a text of up to some words.
    static func text(_ count: Int, using generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...count, using: &generator)).map { _ in word(using: &generator) }
            .joined(separator: [" ", " ", "-", ", "].randomElement(using: &generator)!)
    }

    private static func word(using generator: inout SeededGenerator) -> String {
        guard Bool.random(using: &generator) else { return words.randomElement(using: &generator)! }
        let letters: [Character] = ["a", "a", "b", "B", "ä", "ß", "č", "и", "é"]
        return String(
            (0..<Int.random(in: 1...9, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
        )
    }

    init(_ count: Int, using generator: inout SeededGenerator) {
        inflection = Inflection([[], [.english], [.english, .russian]].randomElement(using: &generator)!)
        synonyms =
            Bool.random(using: &generator)
            ? .none
            : try! Synonyms(
                groups: [
                    ["pop", "soda", "soft drink"], ["apple", "берег", "APPLE"], ["soft drink", "coca cola milch"],
                ],
                oneWay: [.init(from: "élan", to: ["berry", "a"]), .init(from: "cola", to: ["milch 1,5"])]
            )
        var products: [Product] = []
        for number in 0..<count {
            let sku = [
                "s\(number)", "A4-\(number)", "\(number)milch", "12345\(number)",
            ].randomElement(using: &generator)!
            var product = Product(sku: SKU(sku)!, name: Self.text(4, using: &generator))
            if Bool.random(using: &generator) { product.brand = Self.text(2, using: &generator) }
            product.tags = (0..<Int.random(in: 0...2, using: &generator)).map { _ in Self.word(using: &generator) }
            product.barcode = [nil, "4006381333931", "96385074", "036000291452", "x-1"].randomElement(
                using: &generator
            )!
            product.popularity = [.none, Popularity(log2: 1), Popularity(log2: 3), Popularity(log2: -2)]
                .randomElement(using: &generator)!
            products.append(product)
        }
        self.products = products
    }

    /// The table, in the order of the bytes of names.
    var table: ShelfTable { ShelfTable(products.map { TableRow($0, position: [1]) { Array($0.utf8) } }) }

    /// Returns a query that is similar to the texts of products.
    func query(using generator: inout SeededGenerator) -> String {
        let product = products.randomElement(using: &generator)
        let words = (0..<Int.random(in: 1...3, using: &generator)).map { _ -> String in
            guard let product else { return Self.word(using: &generator) }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                let codes = [product.sku.text, String(product.sku.text.prefix(3)), "00096385074000", "04006381333931"]
                return (codes + [product.barcode].compactMap { $0 }).randomElement(using: &generator)!
            case 1...5:
                return String(product.name.split(separator: " ").randomElement(using: &generator)!)
            default: return Self.word(using: &generator)
            }
        }
        return words.map { Self.edited($0, using: &generator) }.joined(separator: " ")
    }

    /// Returns a word with an edit, or a part of it.
    private static func edited(_ word: String, using generator: inout SeededGenerator) -> String {
        var letters = Array(word)
        let place = Int.random(in: 0..<letters.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: letters.remove(at: place)
        case 1: letters.insert("a", at: place)
        case 2: letters[place] = "b"
        case 3: letters.swapAt(place, letters.count - 1)
        case 4: letters.removeFirst(place)
        case 5: letters.removeLast(place)
        default: break
        }
        return String(letters)
    }
}
