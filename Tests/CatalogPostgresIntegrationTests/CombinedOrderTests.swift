import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import LibPQ
import Ordering
import TestSupport
import Testing

/// Random combinations of sort, filters, groups and search, whose pages, cursors, orders and diffs are those of the in-memory catalog while
/// products change.
@Suite(.timeLimit(.minutes(15))) struct CombinedOrderTests {
    private static let store = CatalogKey("shop")!
    private static let (food, dairy) = (CatalogKey("food")!, CatalogKey("dairy")!)
    private static let euro = Currency("EUR")!
    private static let words = ["milk", "Milch", "oat", "oats", "apple", "Äpfel", "butter", "buttermilk", "bread"]

    /// The sample attributes but the one whose name may not be declared any more.
    private static let attributes = AttributeSet(
        deployment: AttributeSet.sample.attributes.map(\.definition.untitled).filter { $0.name.text != "price" }.map {
            .definition($0)
        }
    )

    /// Returns random values of the attributes, with ties and missing values.
    private static func values(using generator: inout SeededGenerator) -> String {
        let values: [(name: String, texts: [String])] = [
            ("rating", ["4.5", "4", "-1.5", "0"]), ("protein", ["3.25", "10", "0.5", "0"]),
            ("grade", ["\"a\"", "\"b\"", "\"d\""]), ("origin", ["\"Istria\"", "\"istria\"", "\"Ärla\""]),
            ("organic", ["true", "false"]), ("harvest", ["\"2026-03-01\"", "\"1969-12-31\""]),
            ("allergens", ["[]", "[\"n\"]", "[\"m\",\"n\"]"]),
            ("labels", ["[]", "[\"new\",\"vegan\"]", "[\"vegan\"]"]),
        ]
        let members = values.compactMap { name, texts in
            Int.random(in: 0..<4, using: &generator) == 0
                ? nil : "\"\(name)\": \(texts.randomElement(using: &generator)!)"
        }
        return "{\(members.joined(separator: ", "))}"
    }

    private static func text(using generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in words.randomElement(using: &generator)! }
            .joined(separator: " ")
    }

    /// Gives a product everything that orders read.
    private static func change(_ product: inout Product, using generator: inout SeededGenerator) {
        product.name = text(using: &generator)
        product.priceMinor = [nil, 99, 199, 250].randomElement(using: &generator)!
        product.group = [nil, "a", "b/1", "ä", "c\(Int.random(in: 0..<4, using: &generator))"]
            .randomElement(using: &generator)!
        product.inStock = Bool.random(using: &generator)
        product.attributes = values(using: &generator)
    }

    /// Returns a random view of a shelf. The clocks of the catalogs differ, and so do their manual orders after changes.
    private static func view(
        _ search: SearchText?,
        _ products: [Product],
        using generator: inout SeededGenerator
    ) -> RequestedSort {
        let resolved = ResolvedAttributes(attributes)
        let keys = (resolved.sortKeys + SortKey.allCases.filter { $0 != .modified && $0 != .position })
            .shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
        var terms = keys.map { ($0.isReversible && Bool.random(using: &generator) ? "-" : "") + $0.name }
        if search != nil, Bool.random(using: &generator) { terms.insert("-relevance", at: 0) }
        return RequestedSort(
            sort: try! Sort.parse(terms.joined(separator: ","), allowsRelevance: search != nil),
            filter: filter(max(0, Int.random(in: -2...2, using: &generator)), resolved, products, using: &generator),
            search: search,
            collapsesGroups: Bool.random(using: &generator)
        )
    }

    private static func filter(
        _ count: Int,
        _ attributes: ResolvedAttributes,
        _ products: [Product],
        using generator: inout SeededGenerator
    ) -> Filter {
        // An empty range is not a filter.
        for _ in 0..<50 {
            let keys = (attributes.filterKeys + FilterKey.allCases).shuffled(using: &generator).prefix(count)
            let query = keys.flatMap { key in
                key.random(products, euro, using: &generator).map { "\(key.name)=\(PercentEncoding.encode($0))" }
            }
            if let filter = try? Filter(query: query.joined(separator: "&")) { return filter }
        }
        preconditionFailure("no random filter is valid")
    }

    /// Returns the ids of all pages.
    private static func pages(_ catalog: PostgresCatalog, _ first: PageRequest) async throws -> [String] {
        var (request, ids) = (first, [String]())
        repeat {
            let page = try await catalog.pages.page(request)
            ids += page.shown.map(\.id)
            request.after = page.next
        } while request.after != nil && ids.count < 1000
        return ids
    }

    @Test(
        "Pages, cursors, orders and diffs of random views follow every change",
        arguments: [UInt64(1), 2, 3]
    )
    func followsChanges(_ seed: UInt64) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed)
            let memory = InMemoryCatalog(collate: collator)
            for catalog in [memory.storage, catalog.storage] {
                try await catalog.putFoodAndDairy(in: Self.store)
                for definition in Self.attributes.attributes.map(\.definition.untitled) {
                    _ = try await catalog.attributes.declare(.definition(definition), for: .deployment)
                }
            }
            var products: [Product] = []
            for number in 0..<40 {
                var product = Product.random(number, using: &generator)
                Self.change(&product, using: &generator)
                let shelf = number % 3 == 0 ? Self.dairy : Self.food
                try memory.seed(product, in: Self.store, on: [shelf])
                try await catalog.seed([product], on: shelf, in: Self.store)
                products.append(product)
            }
            var (shown, moved, searched, grouped, filtered) = ([String](), 0, 0, 0, 0)
            var (continued, followed) = (0, 0)
            // The page before the change, which goes on after it.
            var begun: (request: PageRequest, card: String)?
            for round in 0..<40 {
                let index = products.indices.randomElement(using: &generator)!
                let cardBefore = products[index].cardID
                Self.change(&products[index], using: &generator)
                for catalog in [memory.storage, catalog.storage] {
                    _ = try await catalog.products.put(products[index], in: Self.store)
                }
                // The specification finds the place of a cursor by its product, which must be as it was.
                if let begun, ![cardBefore, products[index].cardID].contains(begun.card) {
                    let rest = try await memory.page(begun.request).shown.map(\.id)
                    #expect(try await catalog.pages.page(begun.request).shown.map(\.id) == rest, "round \(round)")
                    continued += rest.count
                }
                let search = Bool.random(using: &generator) ? try SearchText(Self.text(using: &generator)) : nil
                let views = (0..<2).map { _ in Self.view(search, products, using: &generator) }
                let includesDescendants = Bool.random(using: &generator)
                let text = "round \(round): \(views), descendants: \(includesDescendants)"
                var order = OrderRequest(address: ShelfAddress(Self.store, Self.food), requested: views[0])
                order.includesDescendants = includesDescendants
                let (found, expected) = (try await catalog.pages.order(order), try await memory.order(order))
                #expect(found.ids == expected.ids, "\(text)")
                var page = PageRequest(store: Self.store, shelf: Self.food, limit: 4)
                page.requested = views[0]
                page.includesDescendants = includesDescendants
                #expect(try await Self.pages(catalog, page) == expected.ids, "\(text)")
                // From another view, and from what the client showed before the change.
                for from in [DiffRequest.Start.sort(views[1]), .list(shown)] {
                    var request = DiffRequest(store: Self.store, shelf: Self.food, from: from, to: views[0])
                    request.includesDescendants = includesDescendants
                    let (diff, specified) = (try await catalog.pages.diff(request), try await memory.diff(request))
                    #expect(Array(diff.old) == Array(specified.old) && Array(diff.new) == expected.ids, "\(text)")
                    let new = diff.diff.apply(to: Array(specified.old)) { expected.ids[$0] }
                    #expect(new == expected.ids, "\(text)")
                    #expect(diff.diff.deletes == specified.diff.deletes && diff.diff.moves == specified.diff.moves)
                    moved += diff.diff.moves.count
                    let limit = round % 12 + 1
                    request.limit = limit
                    let window = try await catalog.pages.diff(request)
                    #expect(Array(window.new) == Array(expected.ids.prefix(limit)), "\(text)")
                    #expect((window.next == nil) == (expected.ids.count <= limit), "\(text)")
                    var first = page
                    first.limit = limit
                    #expect(try await catalog.pages.page(first).next == window.next, "\(text)")
                    let wanted = try await memory.page(first).next
                    #expect(try await memory.diff(request).next == wanted, "\(text)")
                    guard let next = window.next else { continue }
                    var rest = page
                    rest.after = next
                    let later = try await Self.pages(catalog, rest)
                    #expect(Array(window.new) + later == expected.ids, "\(text)")
                    followed += 1
                }
                shown = found.ids
                let first = try await catalog.pages.page(page)
                begun = first.next.flatMap { next in
                    page.after = next
                    return products.first { $0.sku.text == next.id }.map { (page, $0.cardID) }
                }
                filtered += views[0].filter?.isEmpty == false ? found.ids.count : 0
                searched += search == nil ? 0 : found.ids.count
                grouped += found.ids.count { $0.hasPrefix("group/") }
            }
            #expect(moved > 0 && searched > 0 && grouped > 0 && filtered > 0 && continued > 0 && followed > 0)
        }
    }
}
