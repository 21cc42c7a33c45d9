import Catalog
import CatalogJSON
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogPostgres

/// The orders of listings other than products, and their pages, compared with naive sorts in the test.
@Suite(.timeLimit(.minutes(15))) struct ListingOrderTests {
    private static let (shop, other) = (CatalogKey("shop")!, CatalogKey("other")!)
    private static let languages = ["de", "sv", "hr"]

    private static func bytes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    /// Returns whether a text precedes another one in a language; equal ones are compared by bytes.
    private static func precedes(_ a: String, _ b: String, in language: String) -> Bool {
        let order = collator(language)(a, b)
        return order == 0 ? bytes(a, b) : order < 0
    }

    // MARK: - Stores and shelves

    @Test("Stores are in the order of their keys, without deleted ones")
    func stores() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let keys = ["b", "a-2", "z", "a", "a-10", "m"].map { CatalogKey($0)! }
            for key in keys {
                _ = try await catalog.shelves.put(Store(key: key, title: "S", currency: Currency("EUR")!))
            }
            _ = try await catalog.shelves.remove(store: CatalogKey("m")!)
            #expect(try await catalog.shelves.stores().map(\.key.text) == ["a", "a-10", "a-2", "b", "z"])
        }
    }

    @Test("Shelves are paged in every order, in the language of the store", arguments: languages)
    func shelves(_ language: String) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let titles = [
                "Öl", "Oel", "zebra", "Zebra", "Ähre", "čaj", "cukor", "Ärter", "apple", "Zebra", "Öl", "ångström", "2",
                "10",
            ]
            let keys = titles.indices.map { CatalogKey("s\($0 * 5 % 14)")! }
            for store in [Self.other, Self.shop] {
                // Another store has the same shelves with the titles in reverse.
                let own = store == Self.shop ? titles : Array(titles.reversed())
                _ = try await catalog.shelves.put(
                    Store(key: store, title: "S", currency: Currency("EUR")!, locale: language)
                )
                for (key, title) in zip(keys, own) {
                    _ = try await catalog.shelves.put(Shelf(key: key, title: title), in: store)
                }
            }
            try await catalog.shelves.remove(shelf: keys[3], from: Self.shop)
            let moves = [OrderMove([keys[9].text], .first), OrderMove([keys[0].text], .last)]
            _ = try await catalog.shelves.moveShelves(moves, in: Self.shop, expected: nil, once: nil)
            try await catalog.database.writes.perform {
                try $0.run(
                    script: "UPDATE shelf SET modified_at = timestamptz '2026-01-01' + shelf_id % 4 * interval '1 hour'"
                )
            }
            let all = try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop)).shelves
            #expect(all.map(\.shelf.key) == [keys[9]] + [1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13, 0].map { keys[$0] })
            for (key, title) in zip(keys, titles) where key != keys[3] {
                #expect(all.first(where: { $0.shelf.key == key })?.shelf.title == title)
            }
            for sort in ShelfSort.allCases {
                let expected: [ShelfState] =
                    switch sort {
                    case .position: all
                    case .name, .nameDescending:
                        all.sorted { a, b in
                            let (x, y) = (a.shelf, b.shelf)
                            let isBefore =
                                x.title == y.title
                                ? Self.bytes(x.key.text, y.key.text) : Self.precedes(x.title, y.title, in: language)
                            return isBefore == (sort == .name) && x.key != y.key
                        }
                    case .modified, .modifiedDescending:
                        all.sorted { a, b in
                            let isBefore =
                                a.modifiedAt == b.modifiedAt
                                ? Self.bytes(a.shelf.key.text, b.shelf.key.text) : a.modifiedAt < b.modifiedAt
                            return isBefore == (sort == .modified) && a.shelf.key != b.shelf.key
                        }
                    }
                for limit in [1, 4, 100] {
                    var request = ShelvesRequest(store: Self.shop, sort: sort, limit: limit)
                    var paged: [CatalogKey] = []
                    repeat {
                        let page = try await catalog.shelves.shelves(request)
                        #expect(page.shelves.count <= limit)
                        paged += page.shelves.map(\.shelf.key)
                        request.after = page.next
                    } while request.after != nil && paged.count < 50
                    #expect(paged == expected.map(\.shelf.key), "\(sort) by \(limit)")
                }
            }
        }
    }

    // MARK: - Facets

    @Test("Brands and tags are in the order of their counts, then of the language of the store", arguments: languages)
    func facets(_ language: String) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let shelf = CatalogKey("x")!
            _ = try await catalog.shelves.put(
                Store(key: Self.shop, title: "S", currency: Currency("EUR")!, locale: language)
            )
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X"), in: Self.shop)
            let brands = ["Öko", "Oko", "Zar", "Čaj", "Cap", "Ärla", "alma", "Alma", "Å"]
            var (brandCounts, tagCounts): ([String: Int], [String: Int]) = ([:], [:])
            for number in 0..<24 {
                let brand = brands[number * number % 9]
                let tags = Set([brands[number % 9], brands[(number + 4) % 7]].map { $0.lowercased() }).sorted()
                let product = Product(sku: SKU("p\(number)")!, name: "P", brand: brand, priceMinor: 1, tags: tags)
                _ = try await catalog.products.put(product, in: Self.shop)
                _ = try await catalog.products.place(product.sku, on: shelf, in: Self.shop)
                brandCounts[brand, default: 0] += 1
                for tag in tags { tagCounts[tag, default: 0] += 1 }
            }
            func expected(_ counts: [String: Int]) -> [Facets.Count] {
                counts.sorted { a, b in
                    a.value == b.value ? Self.precedes(a.key, b.key, in: language) : a.value > b.value
                }.map { Facets.Count($0.key, $0.value) }
            }
            let request = PageRequest(store: Self.shop, shelf: shelf, facets: [.brand, .tag])
            let facets = try #require(try await catalog.pages.page(request).facets)
            #expect(facets.brands == expected(brandCounts))
            #expect(facets.tags == expected(tagCounts))
        }
    }

    // MARK: - Audit

    private struct Entry {
        var store: Int32
        var at: Timestamp
        var id: UniqueID
        var action: AuditAction
        var actor: String
        var subject: String?
    }

    /// Entries of two stores, of which many have equal times.
    private static func entries() -> [Entry] {
        var generator = SeededGenerator(seed: 3)
        let start: Int64 = 1_790_000_000_000_000
        return (0..<80).map { number in
            Entry(
                store: number % 4 == 0 ? 2 : 1,
                at: Timestamp(microseconds: start + Int64.random(in: 0..<6, using: &generator)),
                id: .random(),
                action: [AuditAction.productChange, .shelfChange].randomElement(using: &generator)!,
                actor: ["ann", "bob"].randomElement(using: &generator)!,
                subject: [nil, "p1", "p2"].randomElement(using: &generator)!
            )
        }
    }

    @Test("Each condition and the order of the audit log are those of a plain list, on pages of every size")
    func audit() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for store in [Self.shop, Self.other] {
                _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            }
            let entries = Self.entries()
            try await catalog.database.writes.perform { connection in
                for entry in entries {
                    try connection.execute(
                        """
                        INSERT INTO store_audit (store_id, at, audit_id, action, source, actor, subject, detail)
                        VALUES ($1, $2, $3::uuid, $4, 'api', $5, $6, '{}')
                        """,
                        [
                            .int4(entry.store), .timestamptz(entry.at.microseconds), .text(entry.id.text),
                            .text(entry.action.rawValue), .text(entry.actor), .text(entry.subject),
                        ]
                    )
                }
            }
            let times = Set(entries.map(\.at)).sorted()
            var requests: [AuditRequest] = []
            for action in [AuditAction.productChange, .shelfChange] {
                for actor in [nil, "ann"] {
                    for subject in [nil, "p1"] {
                        requests.append(
                            AuditRequest(.store(Self.shop), action: action, actor: actor, subject: subject)
                        )
                    }
                }
                // The first time is included, and the last one is not.
                requests.append(AuditRequest(.store(Self.shop), since: times[2], until: times[4], action: action))
            }
            requests.append(AuditRequest(.store(Self.other), action: .productChange))
            for request in requests {
                let store: Int32 = request.log == .store(Self.shop) ? 1 : 2
                let accepted = entries.filter { entry in
                    guard entry.store == store, entry.action == request.action else { return false }
                    if let actor = request.actor, entry.actor != actor { return false }
                    if let subject = request.subject, entry.subject != subject { return false }
                    if let since = request.since, entry.at < since { return false }
                    if let until = request.until, entry.at >= until { return false }
                    return true
                }
                let expected = accepted.sorted { a, b in
                    a.at == b.at ? Self.bytes(b.id.text, a.id.text) : a.at > b.at
                }
                #expect(!expected.isEmpty)
                for limit in [1, 3, 100] {
                    var request = request
                    request.limit = limit
                    var paged: [UniqueID] = []
                    repeat {
                        let page = try await catalog.audit.audit(request)
                        #expect(page.entries.count <= limit)
                        paged += page.entries.map(\.id)
                        request.after = page.next
                    } while request.after != nil && paged.count < 100
                    #expect(paged == expected.map(\.id), "\(request)")
                }
            }
        }
    }
}
