import JSON
import Ordering
import Testing

@testable import Catalog

/// Whether groups are collapsed: what decides it, and what depends on it.
@Suite(.timeLimit(.minutes(15))) struct GroupContextTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
    private static let (price, name) = (Sort(.price, .ascending)!, Sort(.name, .ascending)!)

    private static func head(default sort: Sort? = nil, collapses: Bool) -> ShelfHead {
        let state = ShelfState(
            shelf: Shelf(key: shelf, title: "X", defaultSort: sort, collapsesGroups: collapses),
            productCount: 0,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 7,
            orderVersion: 1
        )
        let store = Store(key: store, title: "S", currency: Currency("EUR")!)
        return ShelfHead(store: store, storeVersion: 2, state: state)
    }

    // MARK: - The decision

    @Test("A request decides whether groups are collapsed, then the remembered view, then the shelf")
    func decision() throws {
        func collapses(
            _ head: ShelfHead,
            _ requested: RequestedSort,
            _ remembered: RememberedSort? = nil
        ) throws -> Bool {
            try head.resolve(requested, remembering: RememberedSorts(shelf: remembered)).collapsesGroups
        }
        for isDefault in [false, true] {
            let head = Self.head(collapses: isDefault)
            let search = try SearchText("milk")
            let requests = [
                RequestedSort(), RequestedSort(sort: Self.price), RequestedSort(filter: try Filter(query: "brand=a")),
                RequestedSort(search: search),
            ]
            for request in requests {
                #expect(try collapses(head, request) == isDefault)
                for wanted in [false, true] {
                    var request = request
                    request.collapsesGroups = wanted
                    #expect(try collapses(head, request) == wanted)
                    let other = RememberedSort(Self.name, collapsesGroups: !wanted)
                    #expect(try collapses(head, request, other) == wanted)
                }
            }
            for remembered in [nil, false, true] as [Bool?] {
                let own = RememberedSort(Self.name, collapsesGroups: remembered)
                #expect(try collapses(head, RequestedSort(), own) == remembered ?? isDefault)
                // The remembered view does not apply to another sort, and neither to a search.
                #expect(try collapses(head, RequestedSort(sort: Self.price), own) == isDefault)
                #expect(try collapses(head, RequestedSort(search: search), own) == isDefault)
            }
        }
    }

    @Test("A manual order that a request or a user chose has all products, unless they ask for groups")
    func manualOrder() throws {
        let chosen = RequestedSort(sort: .position)
        for head in [Self.head(collapses: true), Self.head(default: .position, collapses: true)] {
            #expect(try !head.resolve(chosen).collapsesGroups)
            let own = RememberedSorts(shelf: RememberedSort(.position))
            #expect(try !head.resolve(remembering: own).collapsesGroups)
            let collapsing = RememberedSorts(shelf: RememberedSort(.position, collapsesGroups: true))
            #expect(try head.resolve(remembering: collapsing).collapsesGroups)
            #expect(try head.resolve(RequestedSort(sort: .position, collapsesGroups: true)).collapsesGroups)
        }
        #expect(try Self.head(default: .position, collapses: true).resolve().collapsesGroups)
    }

    @Test("A sort has a natural one, which its mirror shares", arguments: Sort.allSingle)
    func naturalSorts(_ sort: Sort) throws {
        #expect(sort.natural.tieBreakerDirection == .ascending && sort.natural.natural == sort.natural)
        if let mirror = Sort(sort.terms[0].key, sort.terms[0].direction.opposite) {
            #expect(mirror.natural == sort.natural && [sort, mirror].contains(sort.natural))
        } else {
            #expect(sort.natural == sort)
        }
    }

    @Test("The natural sort has all directions reversed that can be, or none")
    func naturalSortsOfSeveralKeys() throws {
        for (sort, natural) in [
            ("price,-name", "price,-name"), ("-price,name", "price,-name"), ("popularity,-price", "-popularity,price"),
            ("-price,position,brand", "price,position,-brand"),
        ] { #expect(try Sort.parse(sort).natural.description == natural) }
        #expect(try Sort.parse("-relevance,-price", allowsRelevance: true).natural.description == "-relevance,-price")
    }

    // MARK: - Remembered views

    @Test(
        "A remembered view has its groups beside its sort and filter",
        arguments: [
            (#""price""#, nil, true), (#"{"sort":"price","collapse":true}"#, true, true),
            (#"{"sort":"price","collapse":false}"#, false, true),
            (#"{"sort":"price","filter":{"in_stock":true},"collapse":true}"#, true, true),
            (#"{"sort":"price","collapse":null}"#, nil, false),
        ] as [(String, Bool?, Bool)]
    )
    func remembered(_ text: String, _ collapses: Bool?, _ isWrittenSo: Bool) throws {
        let view = try RememberedSort(try JSONReader.parse(Array(text.utf8)), field: "value")
        #expect(view.collapsesGroups == collapses)
        #expect((view.value.text == text) == isWrittenSo)
        #expect(try RememberedSort(view.value, field: "value") == view)
    }

    @Test("A wrong member of a remembered view is named")
    func wrongMembers() throws {
        let value = try JSONReader.parse(Array(#"{"sort":"price","collapse":"yes"}"#.utf8))
        let error = #expect(throws: CatalogError.self) { try RememberedSort(value, field: "value") }
        #expect("\(error!)".contains("value.collapse"))
    }

    // MARK: - Pages

    @Test("A cursor works only with the groups of its page")
    func cursors() throws {
        let head = Self.head(collapses: false)
        for collapses in [false, true] {
            var request = PageRequest(store: Self.store, shelf: Self.shelf, sort: Self.price)
            request.collapsesGroups = collapses
            let plan = try request.plan(for: head)
            let cursor = plan.cursor(at: SKU("a")!, "A", [.integer(1)], isSoldOut: false)
            #expect(cursor.collapsesGroups == collapses)
            for (requested, isValid) in [(nil, true), (collapses, true), (!collapses, false)] as [(Bool?, Bool)] {
                var next = PageRequest(store: Self.store, shelf: Self.shelf, after: cursor)
                next.collapsesGroups = requested
                if isValid {
                    #expect(try next.plan(for: head).collapsesGroups == collapses)
                    // The shelf's default may have changed since.
                    #expect(try next.plan(for: Self.head(collapses: true)).collapsesGroups == collapses)
                } else {
                    #expect(throws: CatalogError.invalidCursor) { try next.plan(for: head) }
                }
            }
        }
    }

    @Test("Groups and their members are part of plans and entity tags")
    func tags() throws {
        let head = Self.head(collapses: false)
        func plan(_ collapses: Bool?, _ members: Bool, _ head: ShelfHead = head) throws -> PagePlan {
            var request = PageRequest(store: Self.store, shelf: Self.shelf, sort: Self.price)
            (request.collapsesGroups, request.wantsMembers) = (collapses, members)
            return try request.plan(for: head)
        }
        let plans = [try plan(false, false), try plan(true, false), try plan(true, true)]
        #expect(Set(plans.map { $0.entityTag(head, day: 1) }).count == 3)
        // Only cards of groups have members.
        func hasTag(_ own: PagePlan, of other: PagePlan) -> Bool {
            (own.collapsesGroups, own.wantsMembers) == (other.collapsesGroups, other.wantsMembers)
                && own.entityTag(head, day: 1) == other.entityTag(head, day: 1)
        }
        #expect(try hasTag(plan(false, true), of: plans[0]) && hasTag(plan(nil, true), of: plans[0]))
        #expect(try hasTag(plan(nil, true, Self.head(collapses: true)), of: plans[2]))
    }

    // MARK: - Diffs

    private static func order(_ places: [(place: UInt32, row: UInt32)], _ sort: Sort = price) -> ShelfOrder {
        let list = OrderedIDs(
            OrderedIDs.Places(
                version: 7,
                limit: 20,
                places: places.map(\.place),
                representatives: places.map(\.row)
            )
        ) { "i\($0)" }
        let resolved = ResolvedSort(sort: sort, source: .query, collapsesGroups: true)
        return ShelfOrder(head: head(collapses: false), resolvedSort: resolved, list: list)
    }

    @Test("A group that another product represents is changed, in its place or moved")
    func changedRepresentatives() throws {
        let request = DiffRequest(
            store: Self.store,
            shelf: Self.shelf,
            from: .sort(RequestedSort(sort: Self.name)),
            to: RequestedSort(sort: Self.price),
            limit: 9
        )
        let old = Self.order([(10, 0), (3, 3), (14, 4), (17, 7)], Self.name)
        let new = Self.order([(10, 1), (14, 4), (3, 3), (17, 8), (12, 2)])
        let diff = try OrderDiff(request, [new, old])
        #expect(diff.diff.changed == [0, 3])
        #expect(diff.insertedIDs == ["i12"] && Set(diff.newIDs) == ["i12", "i10", "i17"])
        #expect(diff.includesProducts(for: request))
        let same = try OrderDiff(request, [old, old])
        #expect(same.diff.isEmpty && !same.includesProducts(for: request))
    }

    @Test("The id of a card is that of its group, or the SKU")
    func ids() {
        var product = Product(sku: SKU("a")!, name: "A")
        #expect(ShownProduct(product).id == "a")
        #expect(ShownProduct(product, card: GroupCard(matching: 1, total: 1)).id == "a")
        product.group = "x/y"
        #expect(ShownProduct(product).id == "a")
        #expect(ShownProduct(product, card: GroupCard(matching: 1, total: 1)).id == "group/x/y")
        // So no SKU is the id of a group, and each id of a group is as short as a SKU.
        #expect(SKU("group/x") == nil)
        #expect(ProductText.group.limit + "group/".utf8.count == SKU.byteLimit)
    }
}
