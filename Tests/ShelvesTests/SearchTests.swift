import Catalog
import Ordering
import Testing

@testable import Shelves

@Suite struct SearchTests {
    /// A product: its name, brand, tags, and the logarithm of its popularity.
    typealias Item = (name: String, brand: String?, tags: [String], popularity: Double)

    private static func table(_ items: [Item]) -> ShelfTable {
        ShelfTable(
            items.enumerated().map { number, item in
                var product = Product(sku: SKU("s-\(number)")!, name: item.name)
                (product.brand, product.tags) = (item.brand, item.tags)
                product.popularity = Popularity(log2: item.popularity)
                return TableRow(product, position: [1]) { Array($0.utf8) }
            }
        )
    }

    private static func table(_ names: [String]) -> ShelfTable {
        table(names.map { ($0, nil, [], -.infinity) })
    }

    private static func names(_ table: ShelfTable, _ text: String, _ rules: SearchRules = SearchRules()) throws
        -> [String]
    {
        let index = SearchIndex(table, inflection: rules.inflection)
        let matches = index.matches(Search(try SearchQuery(text), rules))
        return table.rowsByRelevance(matches).map { table.name(Int($0)) }
    }

    // MARK: - Queries

    @Test("A query has at most 100 characters, 8 words, and 32 parts")
    func queryLimits() throws {
        func error(_ text: String) -> SearchTextError? {
            do {
                _ = try SearchQuery(text)
                return nil
            } catch { return error }
        }
        #expect(error(String(repeating: "a", count: 100)) == nil)
        #expect(error(String(repeating: "a", count: 101)) == .tooLong(101))
        // A character with many accents has as many characters as code points.
        #expect(error("a" + String(repeating: "\u{301}", count: 100)) == .tooLong(101))
        #expect(error("a b c d e f g h") == nil && error("a b c d e f g h i") == .tooManyWords(9))
        #expect(error(" a  - 🍎 b\u{3000}c ") == nil)
        #expect(
            error(String(repeating: "a1", count: 16)) == nil
                && error(String(repeating: "a1", count: 17)) == .tooManyParts(34)
        )
        for text in ["", "   ", "- . ,", "🍎", "\u{301}", "'"] { #expect(error(text) == .noWord, "\(text)") }
        #expect(SearchTextError.tooLong(101).detail == "must have at most 100 characters (got 101)")
        #expect(SearchTextError.tooManyWords(9).detail == "must have at most 8 words (got 9)")
        #expect(SearchTextError.noWord.detail == "must have a letter or a digit")
        #expect(SearchTextError.tooManyParts(34).detail.hasSuffix("(got 34)"))
        let query = try SearchQuery("🍎 Straße\u{3000}1,50l")
        #expect(query.words.indices.map(query.sourceText) == ["Straße", "1,50", "l"])
    }

    // MARK: - Classes

    @Test(
        "A word matches in the best of its classes",
        arguments: [
            ("milk", "Milk", .exact), ("milks", "Milk", .related), ("mil", "Milk", .prefix),
            ("milch", "Vollmilch", .compound),
            ("milhc", "Milch", .typo), ("mlch", "Milch", nil), ("ilch", "Milch", .compound), ("ich", "Milch", nil),
            ("nilch", "Milch", nil), ("milc", "Vollmilch", .compound), ("vollmich", "Vollmilch", .typo),
            ("vollmlihc", "Vollmilch", nil), ("12346", "12345", nil), ("1234", "12345", .prefix),
            ("2345", "12345", nil),
            ("1.5", "1,50", .exact), ("330", "330ml", .exact), ("йогрут", "Йогурт", .typo),
            ("йогур", "Йогурт", .prefix),
            ("гурт", "Йогурт", .compound), ("strasse", "STRAßE", .exact), ("sodas", "Pop", .related),
            ("pop", "Soft Drink", .related), ("soft drink", "Soda", .related), ("soft", "Soda", nil),
            ("bio", "organic", .related), ("organic", "bio", nil), ("s-0", "x", .exact), ("S", "x", .prefix),
            ("-0", "x", nil),
        ] as [(String, String, SearchClass?)]
    )
    func classes(_ text: String, _ name: String, _ expected: SearchClass?) throws {
        let synonyms = try Synonyms(
            groups: [["pop", "soda", "soft drink"]],
            oneWay: [.init(from: "bio", to: ["organic"])]
        )
        let rules = SearchRules(inflection: Inflection([.english]), synonyms: synonyms)
        let index = SearchIndex(Self.table([name]), inflection: rules.inflection)
        let matches = index.matches(Search(try SearchQuery(text), rules), within: .typo)
        #expect(matches.relevances.first?.searchClass == expected)
        for limit in SearchClass.allCases {
            let isFound = expected.map { $0 <= limit } ?? false
            #expect(index.matches(Search(try SearchQuery(text), rules), within: limit).rows.isEmpty != isFound)
        }
    }

    @Test("The classes in use are the best ones that together find five products")
    func classesInUse() throws {
        for (exact, prefix, expected) in [
            (5, 3, SearchClass.exact), (4, 1, .prefix), (4, 0, .typo), (0, 5, .prefix), (0, 0, .typo),
        ] {
            let names = Array(repeating: "Milk", count: exact) + Array(repeating: "Milky", count: prefix)
            let index = SearchIndex(Self.table(names))
            let matches = index.matches(Search(try SearchQuery("milk")))
            #expect(matches.classInUse == expected)
            #expect(matches.rows.count == (expected == .exact ? exact : exact + prefix))
        }
        #expect(SearchClass.allCases.map(\.name) == ["exact", "related", "prefix", "compound", "typo"])
        #expect(
            SearchClass.allCases.allSatisfy { SearchClass(name: $0.name) == $0 } && SearchClass(name: "other") == nil
        )
    }

    @Test(
        "Codes are found with and without their spaces",
        arguments: [
            ("AB 12", "ab 12", .exact), ("AB 12", "AB12", .exact), ("AB12", "ab 12", .exact), ("AB 12", "x ab 12", nil),
            ("AB 12", "ab 1", .prefix), ("AB 12 C", "AB 12 C", .exact), ("A - 1", "a - 1", .exact),
            ("A - 1", "a 1", nil), ("Ａ－１", "a-1", .exact), ("A-1", "Ａ－１", .exact), ("O’B", "o'b", .exact),
            ("й1", "и\u{306}1", .exact), ("и\u{306}1", "й1", .exact), ("и1", "й1", nil),
            ("한1", "\u{1112}\u{1161}\u{11AB}1", .exact), ("\u{1112}\u{1161}\u{11AB}1", "한1", .exact),
            ("é1", "e\u{301}1", .exact), ("A\u{A0}1", "a1", .exact), ("½", "½", .exact),
        ] as [(String, String, SearchClass?)]
    )
    func codes(_ sku: String, _ text: String, _ expected: SearchClass?) throws {
        let product = Product(sku: SKU(sku)!, name: "Pen")
        let table = ShelfTable([TableRow(product, position: [1]) { Array($0.utf8) }])
        let matches = SearchIndex(table).matches(Search(try SearchQuery(text)), within: .typo)
        #expect(matches.relevances.first?.searchClass == expected)
    }

    @Test("A code of several words is found together with other words")
    func codeAmongWords() throws {
        var product = Product(sku: SKU("AB 12")!, name: "Pen")
        product.barcode = "4006381333931"
        let table = ShelfTable([TableRow(product, position: [1]) { Array($0.utf8) }])
        for (text, isFound) in [
            ("pen ab 12", true), ("4 006381 333931", true), ("pen 4 006381 333931", true), ("4 006381 pen", false),
            ("ab pen 12", false),
        ] {
            let search = Search(try SearchQuery(text))
            #expect(SearchIndex(table).matches(search).rows.isEmpty != isFound, "\(text)")
        }
        let found = Search(try SearchQuery("4 006381 333931")).highlights(within: .exact, in: SearchTexts(product))
        #expect(found == [SearchHighlight(field: .barcode, range: 0..<13)])
    }

    @Test(
        "A size is found by its value, as if the name had it",
        arguments: [
            ("330ml", true), ("330 ml", true), ("0,33 l", true), ("33cl", true), ("cola 0.33l", true),
            ("6x330ml", true),
            ("6 × 330 ml", true), ("6x33cl cola", true), ("5x330ml", false), ("330 g", false), ("33 ml", false),
            ("330", false), ("ml", false), ("ml 330", false), ("330 cola ml", false), ("1980 ml", false),
            ("6 330ml", true), ("0 ml", false), ("99999999999999999999999999999999999999999 ml", false),
        ]
    )
    func sizes(_ text: String, _ isFound: Bool) throws {
        var product = Product(sku: SKU("a")!, name: "Cola")
        product.size = try Size(amount: ExactDecimal(330), unit: .ml, packs: 6)
        let table = ShelfTable([TableRow(product, position: [1]) { Array($0.utf8) }])
        let matches = SearchIndex(table).matches(Search(try SearchQuery(text)), within: .typo)
        #expect(matches.relevances.map(\.searchClass) == (isFound ? [.exact] : []))
    }

    @Test(
        "Units are found in the spellings that imports read",
        arguments: [
            ("1 kg", "1000 g"), ("500g", "0.5 kg"), ("10 Stück", "10 piece"), ("10 kom", "10 piece"),
            ("20 dag", "200 g"),
            ("1 ltr", "1 l"), ("2 л", "2 l"),
        ]
    )
    func units(_ text: String, _ size: String) throws {
        let parts = size.split(separator: " ")
        var product = Product(sku: SKU("a")!, name: "x")
        product.size = try Size(amount: ExactDecimal(parts[0])!, unit: MeasureUnit(rawValue: String(parts[1]))!)
        let table = ShelfTable([TableRow(product, position: [1]) { Array($0.utf8) }])
        #expect(SearchIndex(table).matches(Search(try SearchQuery(text))).rows == [0])
    }

    @Test(
        "Barcodes of up to 14 digits compare without leading zeros, and others as they are",
        arguments: [
            ("4006381333931", "4006381333931", true), ("4006381333931", "04006381333931", true),
            ("036000291452", "0036000291452", true), ("96385074", "00000096385074", true),
            ("96385074", "9638507", false),
            ("96385074", "096385074", true), ("X-1", "x-1", true), ("X-1", "x1", false), ("12345", "0012345", true),
            ("036000291452", "36000291452", true), ("123456789012345", "0123456789012345", false),
        ]
    )
    func barcodes(_ barcode: String, _ text: String, _ isFound: Bool) throws {
        var product = Product(sku: SKU("a")!, name: "Pen")
        product.barcode = barcode
        let table = ShelfTable([TableRow(product, position: [1]) { Array($0.utf8) }])
        let query = try SearchQuery(text)
        let matches = SearchIndex(table).matches(Search(query))
        #expect(matches.rows.isEmpty != isFound)
        let highlights = Search(query).highlights(within: .typo, in: SearchTexts(product))
        let expected = SearchHighlight(field: .barcode, range: 0..<barcode.utf16.count)
        #expect(highlights == (isFound ? [expected] : []))
    }

    // MARK: - Relevance

    @Test("Relevance is the class, the field, the beginning of the name, the popularity, and then name and sku")
    func relevance() throws {
        let table = Self.table([
            ("Fresh milk", nil, [], 9), ("Milk B", nil, [], 2), ("Milk A", nil, [], 2), ("Milk C", nil, [], 5),
            ("Oat", "Milk", [], 50),
            ("Rice", nil, ["milk"], 60), ("Milkshake", nil, [], 99), ("Milk Z", nil, [], -.infinity),
        ])
        let index = SearchIndex(table)
        let rows = table.rowsByRelevance(index.matches(Search(try SearchQuery("milk")), within: .prefix))
        #expect(
            rows.map { table.name(Int($0)) } == [
                "Milk C", "Milk A", "Milk B", "Milk Z", "Fresh milk", "Oat", "Rice", "Milkshake",
            ]
        )
    }

    @Test(
        "Of equally popular products, the one whose name has the word earlier comes first, then the one with fewer words"
    )
    func closeness() throws {
        let names = [
            "Aroma Body Butter", "Peanut Butter Cup", "Zillertal Butter", "Peanut Butter Cup 4 x 20",
            "A B C D E F G butter h", "A B C D E F G H butter", "A B C D E F buttercup",
        ]
        #expect(
            try Self.names(Self.table(names), "butter") == [
                "Zillertal Butter", "Peanut Butter Cup", "Peanut Butter Cup 4 x 20", "Aroma Body Butter",
                // From the eighth word on, places are equal, and these names have equally many words.
                "A B C D E F G H butter", "A B C D E F G butter h",
            ]
        )
        let index = SearchIndex(Self.table(names))
        let relevances = index.matches(Search(try SearchQuery("butter")), within: .prefix).relevances
        #expect(relevances.map(\.place) == [7, 7, 6, 2, 1, 1, 1])
        #expect(relevances.map(\.nameWords) == [9, 9, 7, 3, 3, 4, 2])
        // Popularity decides before that.
        let table = Self.table([("Zillertal Butter", nil, [], 1), ("Aroma Body Butter", nil, [], 2)])
        #expect(try Self.names(table, "butter") == ["Aroma Body Butter", "Zillertal Butter"])
    }

    @Test(
        "Two words find one word, exactly or as its beginning, and one word finds two, as a compound",
        arguments: [
            ("hand creme", "Handcreme", .exact), ("soft hand creme", "Handcreme, soft", .exact),
            ("hand cre", "Handcreme", .prefix), ("HAND-CREME", "handcreme", .exact),
            ("dolcegusto", "Dolce Gusto", .compound), ("dolcegusto", "Gusto und Dolce", .compound),
            ("tiptop", "Tip-Top", .compound),
            ("hand creme", "Handcremes", .related), ("x box", "Xbox", .exact),
            // Not with fewer than three letters, nor with numbers, nor with three words, nor with two equal parts.
            ("abcde", "ab cde", nil), ("1 2", "12", nil), ("kit kat bar", "kitkatbar", nil),
            ("bonbon", "Bon Asia", nil), ("o.b.", "Obst", nil), ("℅", "Cola", nil),
            ("dolcegusto", "Dolce", nil), ("creme hand", "Handcreme", .compound),
        ] as [(String, String, SearchClass?)]
    )
    func spacing(_ text: String, _ name: String, _ expected: SearchClass?) throws {
        let rules = SearchRules(inflection: Inflection([.german]))
        let index = SearchIndex(Self.table([name]), inflection: rules.inflection)
        let search = Search(try SearchQuery(text), rules)
        for limit in SearchClass.allCases {
            let matches = index.matches(search, within: limit)
            #expect(matches.relevances.first?.searchClass == expected.flatMap { $0 <= limit ? $0 : nil }, "\(limit)")
            guard let expected, expected <= limit else { continue }
            let highlights = search.highlights(within: limit, in: SearchTexts(Product(sku: SKU("a")!, name: name)))
            #expect(!highlights.isEmpty)
        }
        // A better class does not highlight what only a worse one finds.
        guard let expected, text != "creme hand", text != "soft hand creme" else { return }
        for limit in SearchClass.allCases where limit < expected {
            let highlights = search.highlights(within: limit, in: SearchTexts(Product(sku: SKU("a")!, name: name)))
            #expect(highlights.isEmpty, "\(limit)")
        }
    }

    @Test("Names with very many words count as long as the longest that counts")
    func longNames() throws {
        let names = ["milk " + String(repeating: "a ", count: 60), "milk " + String(repeating: "a ", count: 30)]
        let relevances = SearchIndex(Self.table(names)).matches(Search(try SearchQuery("milk"))).relevances
        #expect(relevances.map(\.nameWords) == [31, 31] && relevances.map(\.place) == [0, 0])
    }

    @Test("Texts of attributes are found, with the rank of other fields")
    func texts() throws {
        let table = Self.table(["A", "B"])
        let texts = [
            SearchIndex.Text(row: 0, text: "from Italy"), .init(row: 0, text: "Sicily"), .init(row: 1, text: "France"),
        ]
        let index = SearchIndex(table, texts: texts)
        func rows(_ text: String) throws -> [UInt32] { index.matches(Search(try SearchQuery(text))).rows }
        #expect(try rows("italy") == [0] && rows("sicily from a") == [0] && rows("france") == [1])
        #expect(try rows("france a").isEmpty)
        let product = table.product(0)!
        let found = Search(try SearchQuery("sicily")).highlights(
            within: .exact,
            in: SearchTexts(product, others: ["from Italy", "Sicily"])
        )
        #expect(found == [SearchHighlight(field: .other(1), range: 0..<6)])
    }

    // MARK: - Highlights

    @Test(
        "Highlights are the letters that match, in UTF-16 units",
        arguments: [
            ("milch", "🍎 Vollmilch", [7..<12]), ("mil", "Milch mild", [0..<3, 6..<9]),
            ("330 ml", "Cola 330ml", [5..<10]),
            ("stras", "Straße", [0..<5]), ("strass", "Straße", [0..<5]), ("elan", "e\u{301}lan\u{301}", [0..<6]),
            ("1.5", "1,50 l", [0..<4]), ("milhc", "Frische Milch", [8..<13]), ("lays", "Lay's Chips", [0..<5]),
            ("xyz", "Milch", []), ("stras", "Straß\u{301}e", [0..<6]), ("ह", "हिन्दी", [0..<2]),
            ("nx", "ŉx ½", [0..<2]), ("hand creme", "Die Handcremes", [4..<13]),
            ("dolcegusto", "Dolce, Gusto", [0..<5, 7..<12]), ("dolcegusto", "Gustoso Dolce", []),
        ] as [(String, String, [Range<Int>])]
    )
    func highlights(_ text: String, _ name: String, _ expected: [Range<Int>]) throws {
        let product = Product(sku: SKU("a")!, name: name)
        let found = Search(try SearchQuery(text)).highlights(within: .typo, in: SearchTexts(product))
        #expect(found == expected.map { SearchHighlight(field: .name, range: $0) })
    }

    @Test("A sku is highlighted as far as it matches")
    func skuHighlight() throws {
        let product = Product(sku: SKU("ＡB Ç-1")!, name: "x")
        for (text, end) in [("ab", 2), ("abc", 4), ("abc-1", 6), ("ABÇ-", 5)] {
            let found = Search(try SearchQuery(text)).highlights(within: .prefix, in: SearchTexts(product))
            #expect(found == [SearchHighlight(field: .sku, range: 0..<end)], "\(text)")
        }
        let accent = SearchTexts(Product(sku: SKU("x\u{30C}1")!, name: "y"))
        let found = Search(try SearchQuery("x")).highlights(within: .prefix, in: accent)
        #expect(found == [SearchHighlight(field: .sku, range: 0..<2)])
        let exact = Search(try SearchQuery("ab")).highlights(within: .exact, in: SearchTexts(product))
        #expect(exact.isEmpty)
    }

    // MARK: - Suggestions

    @Test("A correction has few edits, products that match the other words, and the spelling of a product")
    func corrections() throws {
        let table = Self.table([
            ("ČOKOLADA Milka", nil, [], 1), ("Mlijeko svježe", nil, [], 5), ("Mljeko", nil, [], 1),
            ("Kruh", nil, [], 3),
            ("Kruška", nil, [], 9), ("Mlijeko kozje", nil, [], 1),
        ])
        let index = SearchIndex(table)
        func correction(_ text: String) throws -> String? {
            let query = try SearchQuery(text)
            return index.matches(Search(query)).rows.isEmpty
                ? index.correction(Search(query), table)?.text : nil
        }
        #expect(try correction("cxkolaxa") == "čokolada")
        #expect(try correction("okolada!!") == nil && correction("gokolada!!") == "čokolada!!")
        // A word of four letters has one edit, and a number none.
        #expect(try correction("krhu") == "kruh" && correction("kxxh") == nil && correction("12345") == nil)
        #expect(try correction("nlijeko") == "mlijeko" && correction("xyzzyx") == nil)
        // The other words decide.
        #expect(
            try correction("kxxje mlijeko") == "kozje mlijeko" && correction("Milka  xokolada") == "Milka  čokolada"
        )
        #expect(try correction("kruh xokolada") == nil)
        // Each word is found, but not together.
        #expect(try correction("kruska svjeze") == nil && correction("mlijeko milka") == nil)
        #expect(index.matches(Search(try SearchQuery("kruh qqq"))).missingWords == [1])
        #expect(index.matches(Search(try SearchQuery("kruh milka"))).missingWords == [])
    }

    @Test("A word that is found alone is corrected if the words are not found together")
    func correctionInContext() throws {
        let table = Self.table(["Tea cup", "Tee green", "Tea"])
        let index = SearchIndex(table)
        let query = try SearchQuery("tea green")
        #expect(index.matches(Search(query)).rows.isEmpty)
        let found = index.correction(Search(query), table)
        #expect(found == SearchSuggestion(text: "tee green", words: ["tee"], products: 1))
    }

    @Test("Two words are not corrected to the same word")
    func repeatedCorrections() throws {
        func correction(_ text: String, _ names: [String]) throws -> String? {
            let table = Self.table(names)
            return SearchIndex(table).correction(Search(try SearchQuery(text)), table)?.text
        }
        #expect(try correction("nlijeko nljeko", ["Mlijeko"]) == nil)
        #expect(try correction("gola xola", ["Cola kola"]) == "cola kola")
    }

    @Test("Words that share a character of the query are neither corrected nor completed")
    func sharedCharacters() throws {
        let table = Self.table(["Mlijeko svježe", "Milk cup", "oblaci", "℅ssa", "cream"])
        let index = SearchIndex(table)
        for text in ["mlijex℅svjeze", "mlijex℀svjeze", "mlijex℁svjeze", "mlijex℆svjeze", "mlijex㎧svjeze", "ﷺ"] {
            let search = Search(try SearchQuery(text))
            #expect(index.correction(search, table) == nil && index.completions(search, table, limit: 8).isEmpty)
        }
        let query = try SearchQuery("milc ℅")
        #expect(query.words.map(\.sharesSource) == [false, true, true])
        #expect(index.completions(Search(query), table, limit: 8).isEmpty)
        // A spelling is the word alone.
        let found = index.completions(Search(try SearchQuery("os")), table, limit: 8)
        #expect(found.map(\.text) == ["ossa"])
    }

    @Test("At most four words are corrected, or tried: those that the fewest products have")
    func correctionLimit() throws {
        let table = Self.table([
            "alpha bravo charlie delta echo", "alphas", "bravos", "charlies", "deltas", "echos", "echos",
        ])
        let index = SearchIndex(table)
        func correction(_ text: String) throws -> String? {
            index.correction(Search(try SearchQuery(text)), table)?.text
        }
        #expect(try correction("qalpha qbravo qcharlie qdelta") == "alpha bravo charlie delta")
        #expect(try correction("qalpha qbravo qcharlie qdelta qecho") == nil)
        // Each word is found, but one product has all of them only with another word.
        #expect(try correction("alpha bravo charlie deltas") == "alpha bravo charlie delta")
        #expect(try correction("alpha bravo charlie delta echos") == nil)
    }

    @Test("Completions complete the last word, by the popularity of products that match the others")
    func completions() throws {
        let table = Self.table([
            ("Milch", nil, [], 1), ("MILKA Čokolada", nil, [], 3), ("Milka", "Milka", [], 3),
            ("Milde Salsa", nil, [], -.infinity),
            ("Čokoladno mlijeko", nil, [], 8),
        ])
        let index = SearchIndex(table)
        func completions(_ text: String) throws -> [String] {
            index.completions(Search(try SearchQuery(text)), table, limit: 8).map(\.text)
        }
        #expect(try completions("mil") == ["milka", "milch", "milde"])
        #expect(try completions("Milka  čo") == ["Milka  čokolada"])
        #expect(try completions("milka").isEmpty && completions("mil ").isEmpty && completions("xyz").isEmpty)
        let brands = index.brands(try SearchQuery("mi"), table, limit: 8)
        #expect(brands == [BrandSuggestion(brand: "Milka", products: 1)])
        // Further texts are those of attributes, whose words complete none, and add no products to those of other fields.
        let row = try #require((0..<table.count).first { table.product($0)?.name == "Milch" })
        let texts = [SearchIndex.Text(row: UInt32(row), text: "milka milk_free")]
        let further = SearchIndex(table, texts: texts)
        let found = further.completions(Search(try SearchQuery("mil")), table, limit: 8)
        #expect(found == index.completions(Search(try SearchQuery("mil")), table, limit: 8))
        #expect(further.matches(Search(try SearchQuery("milka"))).rows.count == 3)
    }

    @Test("Brands have the words of a query, and come by the popularity of their products")
    func brands() throws {
        let table = Self.table([
            ("A", "Coca-Cola", [], 1), ("B", "Coca-Cola", [], 1), ("C", "Cola Cao", [], 5),
            ("D", "Cocos", [], -.infinity), ("E", nil, [], 9),
        ])
        let index = SearchIndex(table)
        func brands(_ text: String, limit: Int = 8) throws -> [String] {
            index.brands(try SearchQuery(text), table, limit: limit).map(\.brand)
        }
        #expect(try brands("co") == ["Cola Cao", "Coca-Cola", "Cocos"] && brands("co", limit: 1) == ["Cola Cao"])
        #expect(try brands("coca co") == ["Coca-Cola"] && brands("co cola").isEmpty)
    }

    // MARK: - Synonyms

    @Test("Synonyms have limits, and errors have a path")
    func synonymLimits() throws {
        func error(_ groups: [[String]], _ oneWay: [Synonyms.OneWay] = []) -> SynonymError? {
            do {
                _ = try Synonyms(groups: groups, oneWay: oneWay)
                return nil
            } catch { return error }
        }
        let many = (0..<20).map { "a\($0)" }
        #expect(error([many]) == nil && error([many + ["b"]])?.path == "synonyms[0]")
        #expect(error([["a"]])?.reason == "must have 2 to 20 texts (got 1)")
        #expect(error([["a", "b"], ["c", "🍎"]])?.path == "synonyms[1][1]")
        #expect(
            error([["a", "b c d e"]]) == nil && error([["a", "b c d e f"]])?.reason == "must have 1 to 4 words (got 5)"
        )
        #expect(error([["a", String(repeating: "b", count: 100)]]) == nil)
        #expect(error([["a", String(repeating: "b", count: 101)]])?.reason == "must have at most 100 bytes (got 101)")
        #expect(error([], [.init(from: "", to: ["a"])])?.path == "one_way[0].from")
        #expect(error([], [.init(from: "a", to: [])])?.path == "one_way[0].to")
        #expect(error([], [.init(from: "a", to: many + ["b"])])?.reason == "must have 1 to 20 texts (got 21)")
        #expect(error([], [.init(from: "a", to: ["b", " "])])?.path == "one_way[0].to[1]")
        let limit = Array(repeating: ["a", "b"], count: 2000)
        #expect(error(limit) == nil)
        #expect(
            error(limit, [.init(from: "a", to: ["b"])])?.reason
                == "must have at most 2000 groups and one-way rules (got 2001)"
        )
        #expect(error(limit, [.init(from: "a", to: ["b"])])?.path == nil)
        // A text is the same one in each list and each spelling.
        let pops = (0..<100).map { ["Pop", "a\($0)"] }
        #expect(error(pops) == nil && error(pops + pops, [.init(from: "pop", to: ["a1", "POP"])]) == nil)
        #expect(error(pops + [["PÓP", "b"]])?.path == "synonyms[100][0]")
        #expect(error(pops, [.init(from: "pop", to: ["b"])])?.path == "one_way[0].from")
        #expect(error(pops, [.init(from: "b", to: ["pop"])]) == nil)
        #expect(error(pops + [["pop", "b"]])?.reason == "must find at most 100 other texts in all lists")
    }

    @Test("A synonym of several words needs all of them in a product, and a form of a word is enough")
    func synonymWords() throws {
        let synonyms = try Synonyms(groups: [["pop", "soft drink"]], oneWay: [])
        let rules = SearchRules(inflection: Inflection([.english]), synonyms: synonyms)
        let table = Self.table(["Soft Drinks", "Soft cheese", "Drink", "Pop", "Soft ice, cold drink"])
        // The name of each of the first two begins with a synonym.
        #expect(try Self.names(table, "pops", rules) == ["Pop", "Soft Drinks", "Soft ice, cold drink"])
        #expect(try Self.names(table, "soft drink", rules) == ["Soft ice, cold drink", "Pop", "Soft Drinks"])
        #expect(try Self.names(table, "cold pop", rules) == ["Soft ice, cold drink"])
    }

    // MARK: - Index

    @Test("Tables share an index if no searched value differs")
    func sharing() throws {
        func row(_ sku: String, _ name: String, _ change: (inout Product) -> Void = { _ in }) -> TableRow {
            var product = Product(sku: SKU(sku)!, name: name)
            (product.brand, product.barcode, product.tags) = ("Arla", "96385074", ["new"])
            change(&product)
            return TableRow(product, position: [1]) { Array($0.utf8) }
        }
        let table = ShelfTable([
            row("a", "A"), row("b", "B") { $0.brand = "Zott" }, row("c", "C") { $0.tags = [] },
        ])
        func isShared(_ sku: String, _ row: TableRow?) -> Bool {
            let changed = table.applying([SKU(sku)!: row])
            let isShared = SearchIndex.isShared(by: table, and: changed)
            // A union of shelves numbers its brands and tags again.
            let other = ShelfTable([
                TableRow(Product(sku: SKU("z")!, name: "0"), position: [1]) { Array($0.utf8) }
            ])
            #expect(SearchIndex.isShared(by: .union([table, other]), and: .union([other, changed])) == isShared)
            #expect(SearchIndex.isShared(by: changed, and: table) == isShared)
            return isShared
        }
        #expect(isShared("a", row("a", "A")))
        #expect(isShared("a", row("a", "A") { $0.popularity = Popularity(log2: 4) }))
        #expect(
            isShared(
                "a",
                row("a", "A") { ($0.priceMinor, $0.imageURL, $0.inStock) = (99, "https://a.example", false) }
            )
        )
        #expect(isShared("a", row("a", "A") { $0.attributes = "{\"a\":1}" }))
        #expect(
            !isShared("a", row("a", "A") { $0.brand = "Zott" }) && !isShared("a", row("a", "A") { $0.brand = nil })
        )
        #expect(!isShared("a", row("a", "A") { $0.tags = [] }) && !isShared("a", row("a", "A") { $0.barcode = nil }))
        #expect(!isShared("a", row("a", "A") { $0.barcode = "96385075" }))
        #expect(!isShared("a", row("a", "A") { $0.brand = "New" }) && !isShared("a", row("a", "A") { $0.tags = ["x"] }))
        #expect(!isShared("a", row("a", "AA")) && !isShared("a", nil) && !isShared("d", row("d", "D")))
        // A new size moves no row, and is searched.
        let size = try Size(amount: ExactDecimal(5), unit: .l)
        #expect(!isShared("a", row("a", "A") { $0.size = size }))
        // A manual move changes no searched value.
        var moved = row("a", "A")
        moved.position = [9]
        #expect(isShared("a", moved))
    }

    @Test("The size of an index is that of all arrays, with their unused capacity")
    func size() throws {
        var generator = SeededGenerator(seed: 3)
        let catalog = RandomCatalog(500, using: &generator)
        let (small, large) = (SearchIndex(ShelfTable()), SearchIndex(catalog.table, inflection: Inflection([.english])))
        for index in [small, large] {
            #expect(index.size == MemoryLayout<SearchIndex>.size + sizeOfArrays(in: index))
        }
        #expect(large.size < small.size + 500 * 200)
        let matches = large.matches(Search(try SearchQuery("milk"), SearchRules(inflection: Inflection([.english]))))
        #expect(matches.sizeOfArrays == sizeOfArrays(in: matches))
        let view = catalog.table.view(.relevance(sortsSoldOutLast: true), matches)
        #expect(view.size == MemoryLayout<TableView>.size + sizeOfArrays(in: (view.rows, matches)))
    }

    @Test("Words are found at each offset of their list, of any length")
    func occurrences() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<300 {
            let texts = Set(
                (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                    (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                        UInt8.random(in: 97...98, using: &generator)
                    }
                }
            ).sorted { $0.lexicographicallyPrecedes($1) }
            let words = SearchWords(texts.map { $0[...] })
            for length in [2, 4, 7, 8, 9, 17] {
                let wanted = (0..<length).map { _ in UInt8.random(in: 97...98, using: &generator) }
                var found: [Int] = []
                words.forEachWord(containing: wanted) { found.append($0) }
                let expected = texts.indices.filter { number in
                    texts[number].count >= length
                        && (0...(texts[number].count - length)).contains {
                            texts[number].dropFirst($0).starts(with: wanted)
                        }
                }
                #expect(found == expected)
            }
            for (number, text) in texts.enumerated() { #expect(words.number(of: text) == number) }
        }
    }
}
