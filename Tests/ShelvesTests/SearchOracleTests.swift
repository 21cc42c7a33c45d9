import Catalog
import Ordering
import Testing

@testable import Shelves

@Suite struct SearchOracleTests {
    @Test(
        "Classes, products, relevance and missing words are those of the specification",
        arguments: [0, 1, 12, 40, 40, 40, 40, 64, 65, 130, 300].enumerated().map { ($0, $1) }
    )
    func matching(_ seed: Int, _ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let catalog = RandomCatalog(count, using: &generator)
        let (table, naive, rules) = (catalog.table, catalog.naive, catalog.rules)
        let index = SearchIndex(table, texts: catalog.texts(table), inflection: catalog.inflection)
        var found = Set<SearchClass>()
        for _ in 0..<(count > 50 ? 8 : 30) {
            let text = catalog.query(using: &generator)
            guard let query = try? SearchQuery(text) else { continue }
            let limits = [nil] + SearchClass.allCases.map(Optional.some)
            for (limit, expected) in zip(limits, naive.search(text, within: limits)) {
                let matches = index.matches(Search(query, rules), within: limit)
                let request = ViewRequest.relevance(sortsSoldOutLast: false)
                let view = table.view(request, matches)
                let outcome = NaiveSearch.Outcome(
                    searchClass: matches.classInUse,
                    matches: view.rows.map { row in
                        NaiveSearch.Match(
                            sku: table.sku(Int(row)).text,
                            relevance: matches.relevance(of: Int(row))!
                        )
                    },
                    missing: matches.missingWords
                )
                #expect(outcome == expected, "\(text) \(String(describing: limit))")
                found.formUnion(matches.relevances.map(\.searchClass))
                #expect(matches.rows == matches.rows.sorted())
            }
        }
        #expect(found.count > (count < 20 || count > 200 ? 0 : count > 50 ? 1 : 2) || count == 0, "\(found)")
    }

    @Test(
        "Words that are written together or apart match like those of the specification",
        arguments: 0..<4 as Range<UInt64>
    )
    func spacing(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 500 + seed)
        let catalog = RandomCatalog(30, using: &generator)
        let (table, naive, rules) = (catalog.table, catalog.naive, catalog.rules)
        let index = SearchIndex(table, texts: catalog.texts(table), inflection: catalog.inflection)
        var found = 0
        for product in catalog.products {
            let words = NaiveSearch.words(product.name).map(\.text)
            let joined: [String] = zip(words, words.dropFirst()).map { $0 + $1 }
            let apart: [String] = words.filter { $0.count > 3 }.map { word in
                "\(word.prefix(word.count / 2)) \(word.dropFirst(word.count / 2))"
            }
            for text in (joined + apart).shuffled(using: &generator).prefix(2) {
                guard let query = try? SearchQuery(text) else { continue }
                let limits = SearchClass.allCases.map(Optional.some)
                for (limit, expected) in zip(limits, naive.search(text, within: limits)) {
                    let matches = index.matches(Search(query, rules), within: limit)
                    let relevances = Dictionary(uniqueKeysWithValues: expected.matches.map { ($0.sku, $0.relevance) })
                    let own = zip(matches.rows, matches.relevances).map { (table.sku(Int($0)).text, $1) }
                    #expect(Dictionary(uniqueKeysWithValues: own) == relevances, "\(text) \(String(describing: limit))")
                    let highlights = Search(query, rules).highlights(
                        within: limit!,
                        in: SearchTexts(product, others: catalog.others[product.sku, default: []])
                    )
                    #expect(highlights == naive.highlights(text, within: limit!, product), "\(text)")
                    found += own.contains { $0.0 == product.sku.text } ? 1 : 0
                }
            }
        }
        #expect(found > 20)
    }

    @Test("70,000 products match like those with the same texts")
    func manyRows() throws {
        var generator = SeededGenerator(seed: 301)
        let catalog = RandomCatalog(70, using: &generator)
        let naive = catalog.naive
        // The skus of copies match no query.
        let copies = catalog.products.enumerated().flatMap { number, product in
            (0..<1000).map { copy in
                var row = TableRow(product, position: [1]) { Array($0.utf8) }
                row.sku = SKU("\u{1F34E}\(number)-\(copy)")!
                return row
            }
        }
        let table = ShelfTable(copies)
        let templates = (0..<table.count).map { row in
            catalog.products[Int(table.sku(row).text.dropFirst().prefix { $0 != "-" })!].sku.text
        }
        let index = SearchIndex(table, texts: catalog.texts(table, templates), inflection: catalog.inflection)
        let limits = [SearchClass.prefix, .typo]
        var (tested, highest) = (0, 0)
        while tested < 4 || highest <= 65_536 && tested < 120 {
            let text = catalog.query(2, using: &generator)
            guard let query = try? SearchQuery(text), !catalog.findsSku(query) else { continue }
            tested += 1
            for (limit, expected) in zip(limits, naive.search(text, within: limits)) {
                let relevances = Dictionary(uniqueKeysWithValues: expected.matches.map { ($0.sku, $0.relevance) })
                let rows = templates.indices.filter { relevances[templates[$0]] != nil }
                let matches = index.matches(Search(query, catalog.rules), within: limit)
                let isEqual = matches.rows.elementsEqual(rows.lazy.map { UInt32($0) })
                #expect(isEqual, "\(text) \(limit)")
                #expect(matches.relevances == rows.map { relevances[templates[$0]]! })
                highest = max(highest, rows.last ?? 0)
            }
        }
        #expect(highest > 65_536)
    }

    @Test("Each cursor of a search has the rows after it, in each sort", arguments: 0..<6 as Range<UInt64>)
    func cursors(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 200 + seed)
        let catalog = RandomCatalog(80, using: &generator)
        let table = catalog.table
        let index = SearchIndex(table, inflection: catalog.inflection)
        var compared = 0
        for _ in 0..<12 {
            guard let query = try? SearchQuery(catalog.query(using: &generator)) else { continue }
            let matches = index.matches(Search(query, catalog.rules), within: .typo)
            for sort in ["-popularity", "name", "-name", "price,-popularity"] {
                for isByRelevance in [true, false] {
                    for sortsSoldOutLast in [true, false] {
                        var request = ViewRequest.relevance(sortsSoldOutLast: sortsSoldOutLast)
                        request.sort = try Sort.parse(
                            isByRelevance ? "-relevance,\(sort)" : sort,
                            allowsRelevance: true
                        )
                        let view = table.view(request, matches)
                        #expect(Set(view.rows) == Set(matches.rows))
                        for (index, row) in view.rows.enumerated() {
                            let cursor = Cursor(
                                scope: "",
                                sort: request.sort.description,
                                source: .query,
                                isSoldOut: !table.isInStock(Int(row)),
                                values: table.values(Int(row), in: view),
                                name: table.name(Int(row)),
                                id: table.sku(Int(row)).text
                            )
                            #expect(table.index(after: ViewPlace(cursor) { Array($0.utf8) }, in: view) == index + 1)
                            compared += 1
                        }
                        // Rows that change without other values keep their index.
                        let changed = view.rows.shuffled(using: &generator)
                        #expect(table.view(view, changed: Array(changed.prefix(5))) == view)
                        #expect(table.view(view, changed: (0..<UInt32(table.count)).map { $0 }) == view)
                    }
                }
            }
        }
        #expect(compared > 50)
    }

    @Test("Available products come first, and then the better matches")
    func availability() throws {
        var generator = SeededGenerator(seed: 77)
        let catalog = RandomCatalog(120, using: &generator)
        let table = catalog.table
        let index = SearchIndex(table)
        var soldOutBetter = 0
        for _ in 0..<60 {
            guard let query = try? SearchQuery(catalog.query(using: &generator)) else { continue }
            let matches = index.matches(Search(query), within: .typo)
            let rows = table.view(.relevance(sortsSoldOutLast: true), matches).rows.map { Int($0) }
            for (a, b) in zip(rows, rows.dropFirst()) {
                let relevances = (matches.relevance(of: a)!, matches.relevance(of: b)!)
                let ranks = (relevances.0.rank, relevances.1.rank)
                if table.isInStock(a) != table.isInStock(b) {
                    #expect(table.isInStock(a))
                    if ranks.1 < ranks.0 { soldOutBetter += 1 }
                } else if ranks.0 != ranks.1 {
                    #expect(ranks.0 < ranks.1)
                } else if table.popularity(a) != table.popularity(b) {
                    #expect(table.popularity(a).log2 > table.popularity(b).log2)
                } else if relevances.0.closeness != relevances.1.closeness {
                    #expect(relevances.0.closeness < relevances.1.closeness)
                } else {
                    #expect(a < b)
                }
            }
        }
        #expect(soldOutBetter > 5)
    }

    @Test("Highlights are those of the specification", arguments: 0..<5 as Range<UInt64>)
    func highlights(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 100 + seed)
        let catalog = RandomCatalog(40, using: &generator)
        let (naive, rules) = (catalog.naive, catalog.rules)
        var count = 0
        for _ in 0..<20 {
            let text = catalog.query(using: &generator)
            guard let query = try? SearchQuery(text) else { continue }
            let search = Search(query, rules)
            for product in catalog.products {
                let limit = SearchClass.allCases.randomElement(using: &generator)!
                let texts = SearchTexts(product, others: catalog.others[product.sku, default: []])
                let found = search.highlights(within: limit, in: texts)
                #expect(found == naive.highlights(text, within: limit, product), "\(text) \(product.name) \(limit)")
                count += found.count
            }
        }
        #expect(count > 100)
    }

    @Test("Texts that a user is typing match as in the specification", arguments: 0..<5 as Range<UInt64>)
    func typedTexts(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 400 + seed)
        var (withForms, withoutForms, highlights) = (0, 0, 0)
        for number in 0..<60 {
            let catalog = RandomCatalog(12, using: &generator)
            let (table, naive, rules) = (catalog.table, catalog.naive, catalog.rules)
            let index = SearchIndex(table, texts: catalog.texts(table), inflection: catalog.inflection)
            for _ in 0..<4 {
                let query = catalog.query(using: &generator)
                var text = String(query.dropLast(Int.random(in: 0...1, using: &generator)))
                if Int.random(in: 0..<4, using: &generator) == 0 { text += " " }
                guard let query = try? SearchQuery(text) else { continue }
                let search = Search(query, rules, isTyped: true)
                let limit = SearchClass.allCases.randomElement(using: &generator)!
                let matches = index.matches(search, within: limit)
                let expected = naive.search(text, within: [limit], isTyped: true)[0]
                let relevances = Dictionary(uniqueKeysWithValues: expected.matches.map { ($0.sku, $0.relevance) })
                let own = zip(matches.rows, matches.relevances).map { (table.sku(Int($0)).text, $1) }
                #expect(Dictionary(uniqueKeysWithValues: own) == relevances, "\(text) \(limit)")
                #expect(matches.missingWords == expected.missing, "\(text) \(limit)")
                let hasForms = naive.lastWordHasForms(text)
                #expect(matches.lastWordHasForms == hasForms, "\(text)")
                if hasForms { withForms += 1 } else { withoutForms += 1 }
                // Suggestions are texts without the other fields of a product.
                let name = catalog.products[number % 12].name
                let alone = NaiveSearch(
                    products: [Product(sku: SKU("\u{1F34E}")!, name: name)],
                    inflection: catalog.inflection,
                    synonyms: catalog.synonyms
                )
                let found = search.highlights(within: limit, in: name, lastWordHasForms: hasForms)
                #expect(
                    found == alone.nameHighlights(text, within: limit, lastWordHasForms: hasForms),
                    "\(text) \(name)"
                )
                highlights += found.count
            }
        }
        #expect(withForms > 20 && withoutForms > 20 && highlights > 20)
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
                        let purchases = product.popularity.purchases
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
                let found = index.completions(Search(query), table, limit: 100)
                #expect(found.map(\.products) == expected.map(\.value.products), "\(letters)")
                // The spelling of a word is that of a product.
                #expect(
                    found.map { $0.words.flatMap { NaiveSearch.words($0).map(\.text) } }
                        == expected.map { [String(decoding: $0.key, as: UTF8.self)] }
                )
                #expect(index.completions(Search(query), table, limit: 2) == Array(found.prefix(2)))
                count += found.count
            }
        }
        #expect(count > 100)
    }

    @Test("Corrections have the fewest edits, and then the most popular products", arguments: 0..<5 as Range<UInt64>)
    func corrections(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 11 + seed)
        let catalog = RandomCatalog(40, using: &generator)
        let (table, naive) = (catalog.table, catalog.naive)
        let index = SearchIndex(table, texts: catalog.texts(table), inflection: catalog.inflection)
        var count = 0
        for _ in 0..<200 where count < 8 {
            guard let query = try? SearchQuery(catalog.query(4, using: &generator)) else { continue }
            let search = Search(query, catalog.rules)
            guard index.matches(search).rows.isEmpty else { continue }
            let found = index.correction(search, table)
            let corrected = found.map { found in
                NaiveSearch.Correction(words: NaiveSearch.words(found.text).map(\.text), products: found.products)
            }
            #expect(corrected == naive.correction(query.text), "\(query.text) \(found?.text ?? "-")")
            guard let found else { continue }
            #expect(!index.matches(Search(try SearchQuery(found.text), catalog.rules), within: .typo).rows.isEmpty)
            #expect(found.words.allSatisfy { found.text.contains($0) } && !found.words.isEmpty)
            count += 1
        }
        #expect(count > 1)
    }

    @Test("Distances are those of the definition, in the same memory")
    func distances() {
        var generator = SeededGenerator(seed: 21)
        var found: [Int: Int] = [:]
        func word() -> String {
            String((0..<Int.random(in: 0...7, using: &generator)).map { _ in "abжé".randomElement(using: &generator)! })
        }
        for _ in 0..<300 {
            let (a, limit) = (word(), Int.random(in: 1...2, using: &generator))
            var distances = EditDistances(Array(a.utf8))
            for _ in 0..<20 {
                let b = word()
                let expected = NaiveSearch.distance(a.unicodeScalars.map(\.value), b.unicodeScalars.map(\.value))
                let distance = Array(b.utf8).withUnsafeBufferPointer { distances.distance(to: $0, limit: limit) }
                #expect(distance == (expected <= limit ? expected : nil), "\(a) \(b)")
                found[distance ?? -1, default: 0] += 1
            }
        }
        #expect([0, 1, 2].allSatisfy { found[$0, default: 0] > 50 })
    }
}

extension ViewRequest {
    /// The order by relevance, and then by descending popularity.
    static func relevance(sortsSoldOutLast: Bool) -> ViewRequest {
        ViewRequest(
            sort: .relevance,
            dimension: .mass,
            sortsSoldOutLast: sortsSoldOutLast,
            currency: RandomShelf.currency
        )
    }
}

extension ShelfTable {
    /// Returns the matching rows by relevance, and then by descending popularity.
    func rowsByRelevance(_ matches: SearchMatches) -> [UInt32] {
        view(.relevance(sortsSoldOutLast: true), matches).rows
    }
}

/// A catalog with words that are similar, folded or split, and many ties.
struct RandomCatalog {
    let products: [Product]
    let inflection: Inflection
    let synonyms: Synonyms
    /// Further texts of products.
    let others: [SKU: [String]]

    var rules: SearchRules { SearchRules(inflection: inflection, synonyms: synonyms) }
    var naive: NaiveSearch {
        NaiveSearch(products: products, inflection: inflection, synonyms: synonyms, others: others)
    }

    /// Returns the further texts of a table's rows.
    ///
    /// - Parameter skus: the products that have the texts; nil for those of the table.
    func texts(_ table: ShelfTable, _ skus: [String]? = nil) -> [SearchIndex.Text] {
        (0..<table.count).flatMap { row in
            others[skus.map { SKU($0[row])! } ?? table.sku(row), default: []].map {
                SearchIndex.Text(row: UInt32(row), text: $0)
            }
        }
    }

    /// Whether a code of a query is the beginning of a sku.
    func findsSku(_ query: SearchQuery) -> Bool {
        query.codes.contains { code in
            products.contains { SearchCode.folded($0.sku.text).starts(with: code.code) }
        }
    }

    private static let words = [
        "Milch", "Vollmilch", "milchig", "Mlich", "Straße", "STRASSE", "Ёжик", "ежик", "йогурт", "и\u{306}огурт",
        "Йогурты", "1,5", "1.50",
        "330ml", "A4", "O'Brien", "O’Brien", "so\u{AD}da", "🍎", "e\u{301}lan", "élan", "ﬁ", "Ｗｉ１", "1,000,000", "牛乳",
        "soda", "pop", "soft",
        "drink", "drinks", "apple", "apples", "berry", "berries", "Čaj", "Đumbir", "Øæ", "οσς", "0.50", "12.05.2026",
        "cola", "coca-cola", "5", "Äpfel", "Apfel", "Wein", "Weine", "frische", "frischer", "jabuka", "jabuke", "sir",
        "sirevi", "mlijeko", "mlijeka", "svježe", "svježeg", "1½", "10²", "m²", "½", "²³", "5²", "mlijex℅svježe", "℁x",
        "hand", "creme", "handcreme", "Hand Creme", "Handcremes", "dolce", "gusto", "Dolce-Gusto", "dolcegusto",
        "c", "o", "0,33l", "6x330", "6×330ml", "33cl", "1.5 l",
    ]

    private static let sizes: [Size?] = [
        nil, try! Size(amount: ExactDecimal(330), unit: .ml), try! Size(amount: ExactDecimal(33), unit: .cl, packs: 6),
        try! Size(amount: ExactDecimal(15, scale: 1), unit: .l), try! Size(amount: ExactDecimal(5), unit: .piece),
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
        inflection = Inflection(
            [[], [.english], [.english, .russian], [.german], [.croatian], [.german, .croatian]]
                .randomElement(using: &generator)!
        )
        synonyms =
            Bool.random(using: &generator)
            ? .none
            : try! Synonyms(
                groups: [
                    ["pop", "soda", "soft drink"], ["apple", "берег", "APPLE"], ["soft drink", "coca cola milch"],
                    ["jabuka", "Äpfel"], ["sir", "mlijeko svježe"], ["Wein", "frische Milch"],
                ],
                oneWay: [.init(from: "élan", to: ["berry", "a"]), .init(from: "cola", to: ["milch 1,5"])]
            )
        var products: [Product] = []
        for number in 0..<count {
            let sku = [
                "s\(number)", "A4-\(number)", "\(number)milch", "12345\(number)", "AB \(number)", "ＡB－\(number)",
                "½ x\u{30C}\(number)",
                "йž \(number) ℅",
            ].randomElement(using: &generator)!
            var product = Product(sku: SKU(sku)!, name: Self.text(4, using: &generator))
            if Bool.random(using: &generator) { product.brand = Self.text(2, using: &generator) }
            product.tags = (0..<Int.random(in: 0...2, using: &generator)).map { _ in Self.word(using: &generator) }
            product.barcode = [nil, "4006381333931", "96385074", "036000291452", "x-1"].randomElement(
                using: &generator
            )!
            product.popularity = [.none, Popularity(log2: 1), Popularity(log2: 3), Popularity(log2: -2)]
                .randomElement(using: &generator)!
            product.inStock = Bool.random(using: &generator)
            product.priceMinor = [nil, 100, 250].randomElement(using: &generator)!
            product.size = Self.sizes.randomElement(using: &generator)!
            products.append(product)
        }
        self.products = products
        var others: [SKU: [String]] = [:]
        for product in products where Bool.random(using: &generator) {
            others[product.sku] = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                Self.text(3, using: &generator)
            }
        }
        self.others = others
    }

    /// The table, in the order of the bytes of names.
    var table: ShelfTable { ShelfTable(products.map { TableRow($0, position: [1]) { Array($0.utf8) } }) }

    /// Returns a query of up to some words that is similar to the texts of products.
    func query(_ count: Int = 3, using generator: inout SeededGenerator) -> String {
        let product = products.randomElement(using: &generator)
        let words = (0..<Int.random(in: 1...count, using: &generator)).map { _ -> String in
            guard let product else { return Self.word(using: &generator) }
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                let codes = [
                    product.sku.text, String(product.sku.text.prefix(3)), "00096385074000", "04006381333931",
                    "4 006381 333931", product.sku.text.uppercased(), "5 kom", "1,5 l", "0.330 l",
                ]
                return (codes + [product.barcode].compactMap { $0 }).randomElement(using: &generator)!
            case 1:
                return others[product.sku]?.first ?? "a"
            case 2...5:
                return String(product.name.split(separator: " ").randomElement(using: &generator)!)
            default: return Self.word(using: &generator)
            }
        }
        return words.map { Self.edited($0, using: &generator) }.joined(separator: " ")
    }

    /// Returns a word with an edit, or a part of it.
    private static func edited(_ word: String, using generator: inout SeededGenerator) -> String {
        var letters = Array(word)
        let index = Int.random(in: 0..<letters.count, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: letters.remove(at: index)
        case 1: letters.insert("a", at: index)
        case 2: letters[index] = "b"
        case 3: letters.swapAt(index, letters.count - 1)
        case 4: letters.removeFirst(index)
        case 5: letters.removeLast(index)
        default: break
        }
        return String(letters)
    }
}
