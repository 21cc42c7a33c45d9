import Catalog
import CatalogJSON
import Testing

/// The choice among suggestions of all kinds, and their form.
@Suite struct SuggestionChoiceTests {
    private static func suggestions(_ subject: Suggestion.Subject, _ count: Int) -> [Suggestion] {
        (0..<count).map { Suggestion(subject, "\(subject.kind) \($0)", matches: []) }
    }

    private static func choice(words: Int, shelves: Int, brands: Int, products: Int, limit: Int) -> [Suggestion] {
        Suggestion.choice(
            words: suggestions(.word, words),
            shelves: suggestions(.shelf(CatalogKey("dairy")!), shelves),
            brands: suggestions(.brand, brands),
            products: suggestions(.product(SKU("a")!), products),
            limit: limit
        )
    }

    @Test(
        "Each kind has suggestions, and half of them are products, as long as there are enough",
        arguments: [
            // The limit, the suggestions of each kind, and how many of them are chosen.
            (8, [20, 20, 20, 20], [2, 1, 1, 4]), (20, [20, 20, 20, 20], [4, 4, 4, 8]),
            (1, [20, 20, 20, 20], [0, 0, 0, 1]),
            (3, [20, 20, 20, 20], [1, 0, 0, 2]), (8, [20, 0, 0, 0], [8, 0, 0, 0]), (8, [0, 0, 0, 3], [0, 0, 0, 3]),
            (8, [1, 0, 20, 2], [1, 0, 5, 2]), (8, [0, 0, 0, 0], [0, 0, 0, 0]),
        ] as [(Int, [Int], [Int])]
    )
    func shares(_ limit: Int, _ available: [Int], _ chosen: [Int]) {
        let found = Self.choice(
            words: available[0],
            shelves: available[1],
            brands: available[2],
            products: available[3],
            limit: limit
        )
        #expect(Suggestion.Kind.allCases.map { kind in found.count { $0.subject.kind == kind } } == chosen)
    }

    @Test("The best ones of each kind are chosen, in the order of words, shelves, brands and products")
    func order() {
        let found = Self.choice(words: 3, shelves: 3, brands: 3, products: 3, limit: 7)
        #expect(
            found.map(\.text) == ["word 0", "word 1", "shelf 0", "brand 0", "product 0", "product 1", "product 2"]
        )
    }

    @Test("A suggestion has its kind, its text and the parts that match, and what it leads to")
    func json() {
        let request = SuggestionRequest(store: CatalogKey("s")!, text: "mi\"")
        let all = [
            Suggestion(.word, "milk", matches: [0..<2]), Suggestion(.shelf(CatalogKey("dairy")!), "Mixed", matches: []),
            Suggestion(.brand, "Milka", matches: [0..<2]),
            Suggestion(.product(SKU("C 1")!), "Oat milk mix", matches: [4..<6, 9..<11]),
        ]
        #expect(
            String(decoding: all.json(for: request), as: UTF8.self)
                == #"{"query":"mi\"","suggestions":[{"kind":"word","text":"milk","matches":[{"from":0,"to":2}]},"#
                + #"{"kind":"shelf","shelf":"dairy","text":"Mixed","matches":[]},"#
                + #"{"kind":"brand","text":"Milka","matches":[{"from":0,"to":2}]},"#
                + #"{"kind":"product","sku":"C 1","text":"Oat milk mix","matches":[{"from":4,"to":6},{"from":9,"to":11}]}]}"#
        )
    }
}
