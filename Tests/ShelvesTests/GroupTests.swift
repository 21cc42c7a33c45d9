import Catalog
import Ordering
@testable import Shelves
import TestSupport
import Testing

/// Views, facets and ids with collapsed groups, compared with lists that are grouped by hand.
@Suite(.timeLimit(.minutes(15))) struct GroupTests {
    /// A shelf whose products have random attributes and groups.
    static func shelf(_ count: Int, using generator: inout SeededGenerator) -> RandomShelf {
        var shelf = AttributeViewTests.shelf(count, using: &generator)
        // Few groups have many members, and many have few.
        let kinds = Int.random(in: 1...max(1, count / 2), using: &generator)
        for index in shelf.listings.indices {
            let number = Int.random(in: -kinds / 3..<kinds, using: &generator)
            shelf.listings[index].product.group = number < 0 ? nil : number % 5 == 0 ? "ä/\(number % 3)" : "g\(number)"
        }
        return shelf
    }

    static func table(_ shelf: RandomShelf) -> ShelfTable {
        let table = shelf.table
        return table.with(AttributeViewTests.columns(table)).with(table.groupColumn())
    }

    private static func collapsing(_ request: ViewRequest) -> ViewRequest {
        var request = request
        request.collapsesGroups = true
        return request
    }

    /// A group of a list, found by hand.
    struct Card {
        let representative: Listing
        /// The matching members in the natural direction, so the representative is the first one.
        let members: [Listing]
        let total: Int
        var id: String { representative.product.group.map { "group/\($0)" } ?? representative.product.sku.text }
    }

    private static func areTogether(_ a: Product, _ b: Product) -> Bool {
        a.sku == b.sku || (a.group != nil && a.group == b.group)
    }

    /// Groups the products that a filter keeps: the representative is the first member in the natural direction of the first key.
    static func cards(
        _ shelf: RandomShelf,
        _ sort: Sort,
        _ filter: Filter,
        _ relevances: [SKU: SearchRelevance]? = nil
    ) throws -> [Card] {
        let first = sort.terms[0]
        var natural = sort
        if first.direction != first.key.naturalDirection {
            let terms = sort.terms.map { term in
                let isDescending = term.key.isReversible && term.direction == .ascending
                return (isDescending ? "-" : "") + term.key.name
            }
            natural = try Sort.parse(terms.joined(separator: ","), allowsRelevance: true).resolved(
                in: AttributeViewTests.attributes,
                allowsRelevance: true
            )
        }
        let inNaturalOrder = shelf.sorted(natural, filter, relevances)
        let sorted = shelf.sorted(sort, filter, relevances)
        return sorted.compactMap { listing in
            let representative = inNaturalOrder.first { areTogether($0.product, listing.product) }!
            guard representative.product.sku == listing.product.sku else { return nil }
            return Card(
                representative: listing,
                members: inNaturalOrder.filter { areTogether($0.product, listing.product) },
                total: shelf.listings.count { areTogether($0.product, listing.product) }
            )
        }
    }

    @Test(
        "A collapsed view has one row for each group, at the place of its representative",
        arguments: 0..<16 as Range<UInt64>
    )
    func oracle(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 1...80, using: &generator), using: &generator)
        let table = Self.table(shelf)
        var sorts = Sort.allSingle + (0..<6).map { _ in Sort.random(using: &generator) }
        sorts += (0..<6).map { _ in AttributeViewTests.sort(using: &generator) }
        for sort in sorts {
            let filter = try AttributeViewTests.filter(Int(seed % 3), shelf, using: &generator)
            let request = Self.collapsing(shelf.request(sort, filter))
            let view = table.view(request)
            let cards = try Self.cards(shelf, sort, filter)
            #expect(view.skus(table) == cards.map(\.representative.product.sku.text), "\(sort) \(filter.query)")
            #expect(Set(cards.map(\.id)).count == cards.count, "each group comes once")
            for (index, card) in cards.enumerated() where index < view.rows.count {
                let counts = GroupCard(matching: card.members.count, total: card.total)
                #expect(view.card(at: index) == counts, "\(sort) \(card.id)")
            }
            let members = view.rows.indices.map { index in view.members(at: index).map { table.sku($0) } }
            #expect(
                members == cards.map { $0.members.prefix(GroupCard.memberLimit).map(\.product.sku) },
                "\(sort) \(filter.query)"
            )
        }
    }

    @Test("A sort and its mirror show the same representatives", arguments: 0..<8 as Range<UInt64>)
    func mirrors(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(60, using: &generator)
        let table = Self.table(shelf)
        let filter = try AttributeViewTests.filter(Int(seed % 2), shelf, using: &generator)
        let keys = SortKey.allCases + AttributeViewTests.attributes.sortKeys
        for key in keys where key.isReversible {
            let views = [SortDirection.ascending, .descending].map { direction in
                table.view(Self.collapsing(shelf.request(Sort(key, direction)!, filter)))
            }
            #expect(Set(views[0].rows) == Set(views[1].rows), "\(key.name)")
            // Without values that come last in both directions, and without dimensions, the mirror is the reverse order.
            let isReversed = [.name, .popularity, .created, .modified, .tags].contains(key)
            if !shelf.sortsSoldOutLast, isReversed { #expect(views[0].rows == views[1].rows.reversed(), "\(key.name)") }
        }
    }

    @Test("The cheapest member represents its group in both directions, an available one first")
    func cheapest() throws {
        let prices: [(sku: String, price: Int64?, inStock: Bool)] = [
            ("a", 300, true), ("b", 200, true), ("c", 100, false), ("d", nil, true), ("x", 250, true),
        ]
        let listings = prices.map { sku, price, inStock in
            var product = Product(sku: SKU(sku)!, name: sku, priceMinor: price, inStock: inStock)
            product.group = sku == "x" ? nil : "g"
            return Listing(product: product, position: [UInt8(sku.utf8.first!)], isSoldOut: !inStock)
        }
        let table = ShelfTable(listings.map(RandomShelf.row))
        let withGroups = table.with(table.groupColumn())
        func shown(_ sort: String, _ filter: String = "", soldOutLast: Bool = true) throws -> [String] {
            let request = ViewRequest(
                sort: try Sort.parse(sort),
                filter: try Filter(query: filter),
                dimension: .mass,
                sortsSoldOutLast: soldOutLast,
                currency: RandomShelf.currency,
                collapsesGroups: true
            )
            return withGroups.view(request).skus(table)
        }
        #expect(try shown("price") == ["b", "x"])
        #expect(try shown("-price") == ["x", "b"])
        #expect(try shown("price", soldOutLast: false) == ["c", "x"])
        #expect(try shown("price", "price_min=3") == ["a"])
        #expect(try shown("price", "in_stock=false") == ["c"])
        #expect(try shown("-name") == ["x", "a"])
        #expect(try shown("position") == ["a", "x"])
        // The manual order is not reversed, so the price decides alone.
        #expect(try shown("-price,position") == ["x", "b"])
    }

    @Test(
        "The place of each card leads to the next one, also if its representative has left",
        arguments: 0..<6 as Range<UInt64>
    )
    func places(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(30, using: &generator)
        let table = Self.table(shelf)
        for _ in 0..<5 {
            let sort = AttributeViewTests.sort(using: &generator)
            let view = table.view(Self.collapsing(shelf.request(sort)))
            let cards = try Self.cards(shelf, sort, .none)
            for (index, card) in cards.enumerated() {
                let cursor = Cursor(
                    scope: "",
                    sort: sort.description,
                    source: .query,
                    dimension: shelf.dimension,
                    isSoldOut: card.representative.isSoldOut,
                    values: table.values(Int(view.rows[index]), in: view),
                    name: card.representative.product.name,
                    id: card.representative.product.sku.text
                )
                let place = ViewPlace(cursor, key: RandomShelf.key)
                #expect(table.index(after: place, in: view) == index + 1, "\(sort)")
                var rest = shelf
                rest.listings.removeAll { $0.product.sku == card.representative.product.sku }
                let left = try Self.cards(rest, sort, .none)
                let restTable = Self.table(rest)
                let restView = restTable.view(Self.collapsing(rest.request(sort)))
                let expected = left.count {
                    sort.precedes(
                        $0.representative,
                        card.representative,
                        dimension: shelf.dimension,
                        collate: RandomShelf.collate
                    )
                }
                #expect(restTable.index(after: place, in: restView) == expected, "\(sort)")
            }
        }
    }

    @Test("Groups follow changed products like groups that are read again", arguments: 0..<8 as Range<UInt64>)
    func followsChanges(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 10...40, using: &generator), using: &generator)
        var table = shelf.table
        var groups = table.groupColumn()
        for step in 0..<60 {
            var changes: [SKU: TableRow?] = [:]
            for number in 0..<3 {
                let row = Int.random(in: 0..<table.count, using: &generator)
                var product = try #require(table.product(row))
                product.group = [nil, "new \(step) \(number)", "ä/1", "g1"].randomElement(using: &generator)!
                changes[product.sku] = TableRow(product, position: table.values(row).position, key: RandomShelf.key)
            }
            let next = table.changed(by: changes)
            #expect(next.table.groups == nil)
            groups = next.table.groupColumn(groups, changed: try #require(next.rows))
            table = next.table
            let read = table.groupColumn()
            let rows = 0..<table.count
            #expect(rows.map { groups.place($0) } == rows.map { read.place($0) })
            #expect(rows.map { groups.total($0) } == rows.map { read.total($0) })
            #expect(rows.map { groups.key(at: groups.place($0)) } == rows.map { table.product($0)?.group })
            #expect(groups.counts.count <= 2 * Set(groups.numbers).count + 64, "keys without products are dropped")
            let request = Self.collapsing(shelf.request(.system))
            #expect(table.with(groups).view(request) == table.with(read).view(request))
        }
    }

    @Test("The rows of groups are found by their keys")
    func rowsOfKeys() {
        var generator = SeededGenerator(seed: 3)
        let table = Self.shelf(40, using: &generator).table
        let groups = table.groupColumn()
        let keys = Set((0..<table.count).compactMap { table.product($0)?.group })
        let found = groups.rows(of: keys.union(["unknown"]))
        #expect(Set(found.keys) == keys)
        for (key, rows) in found { #expect(rows == (0..<table.count).filter { table.product($0)?.group == key }) }
    }

    @Test("A count of a facet is the number of groups that its filter keeps", arguments: 0..<12 as Range<UInt64>)
    func facetCounts(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 1...60, using: &generator), using: &generator)
        let table = Self.table(shelf)
        let attributes = AttributeViewTests.attributes
        let filter = try AttributeViewTests.filter(Int(seed % 4), shelf, using: &generator)
        let own = attributes.facets.shuffled(using: &generator).prefix(Facet.countLimit - Facet.allCases.count)
        let facets = table.facets(Set(Facet.allCases + own), filter, in: RandomShelf.currency, countsGroups: true)
        #expect(facets.total == (try Self.cards(shelf, .system, filter)).count)
        func kept(_ others: Filter, _ name: String, _ texts: [(String, String?)]) throws -> Int {
            let own = texts.compactMap { ending, text in text.map { "\(name)\(ending)=\(PercentEncoding.encode($0))" } }
            let query = (others.query.isEmpty ? [] : [others.query]) + own
            let all = try Filter(query: query.joined(separator: "&")).resolved(in: attributes)
            return try Self.cards(shelf, .system, all).count
        }
        func groups(_ facet: Facet, having condition: (Product) -> Bool) throws -> Int {
            try Self.cards(shelf, .system, filter.without(facet.keys)).count {
                $0.members.contains { condition($0.product) }
            }
        }
        func others(_ facet: Facet) -> Filter { filter.without(facet.keys) }
        for count in facets.brands { #expect(try kept(others(.brand), "brand", [("", count.value)]) == count.count) }
        for count in facets.tags { #expect(try kept(others(.tag), "tag", [("", count.value)]) == count.count) }
        #expect(facets.inStock == (try kept(others(.inStock), "in_stock", [("", "true")])))
        #expect(facets.soldOut == (try kept(others(.inStock), "in_stock", [("", "false")])))
        #expect(facets.unpriced == (try groups(.price) { $0.priceMinor == nil }))
        for price in facets.prices { #expect(try groups(.price) { $0.priceMinor == price.minor } == price.count) }
        for bucket in facets.buckets {
            #expect(try groups(.price) { $0.priceMinor.map(bucket.contains) ?? false } == bucket.count, "\(bucket)")
        }
        #expect(facets.attributes.map(\.attribute) == Set(own).ordered.compactMap(\.attribute))
        for facet in facets.attributes {
            let (name, key) = (facet.name, Facet.attribute(.resolved(facet.attribute)))
            #expect(facet.unknown == (try groups(key) { facet.attribute.value(of: $0) == nil }), "\(name)")
            switch facet.counts {
            case .values(let counts):
                let ending = facet.attribute.form.operators.contains(.anyOf) ? "_any" : ""
                for count in counts {
                    #expect(
                        try kept(others(key), name, [(ending, count.value)]) == count.count,
                        "\(name) \(count.value)"
                    )
                }
            case .range(let range):
                for bucket in range.buckets {
                    let limits = [("_min", bucket.from), ("_max", bucket.to)]
                    let found =
                        bucket.from == nil && bucket.to == nil
                        ? try groups(key) { facet.attribute.value(of: $0) != nil }
                        : try kept(others(key), name, limits)
                    #expect(found == bucket.count, "\(name) \(bucket)")
                }
            }
        }
    }

    @Test("Without groups, a collapsed view and its facets are those of products")
    func withoutGroups() throws {
        var generator = SeededGenerator(seed: 9)
        var shelf = Self.shelf(50, using: &generator)
        for index in shelf.listings.indices { shelf.listings[index].product.group = nil }
        let table = Self.table(shelf)
        let request = shelf.request(try Sort.parse("-price"))
        let view = table.view(Self.collapsing(request))
        #expect(view.rows == table.view(request).rows)
        #expect(view.rows.indices.allSatisfy { view.card(at: $0) == GroupCard(matching: 1, total: 1) })
        let facets = Set(Facet.allCases + AttributeViewTests.attributes.facets.prefix(4))
        #expect(
            table.facets(facets, .none, in: RandomShelf.currency, countsGroups: true)
                == table.facets(facets, .none, in: RandomShelf.currency)
        )
    }

    @Test("The groups of a shelf take about as much memory as their keys and four bytes for each product")
    func sizes() {
        var generator = SeededGenerator(seed: 5)
        let table = Self.shelf(300, using: &generator).table
        let size = table.groupColumn().size
        #expect(size > 4 * table.count && size < 40 * table.count)
    }
}
