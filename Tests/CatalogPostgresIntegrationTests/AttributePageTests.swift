import Catalog
import CatalogJSON
import InMemoryCatalog
import Synchronization
import Testing
import TestSupport

@testable import CatalogPostgres

/// Pages by attributes while declarations and products change.
@Suite(.timeLimit(.minutes(15))) struct AttributePageTests {
    private static let (store, shelf) = (CatalogKey("shop")!, CatalogKey("dairy")!)
    private static let name = AttributeName("rating")!
    private static let rating = try! Sort.parse("-rating")

    private static func definition(_ decimals: Int) -> AttributeDeclaration {
        .definition(try! AttributeDefinition(name: name, form: .number(decimals: decimals)))
    }

    private static func request(_ sort: Sort? = rating, limit: Int = 2, on shelf: CatalogKey? = shelf) -> PageRequest {
        PageRequest(store: store, shelf: shelf, sort: sort, limit: limit)
    }

    private static func withShelf(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: store, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "Dairy"), in: store)
            let products = ["4.5", "3", "4.25", "5"].enumerated().map { number, rating in
                var product = Product(sku: SKU("p\(number)")!, name: "P\(number)")
                product.attributes = "{\"rating\":\(rating)}"
                return product
            }
            try await catalog.seed(products, on: shelf, in: store)
            try await body(catalog)
        }
    }

    private static func isUnknown(_ request: PageRequest, _ catalog: PostgresCatalog) async -> Bool {
        do {
            _ = try await catalog.pages.page(request)
            return false
        } catch .unknownSortKey { return true } catch { return false }
    }

    @Test("A declaration takes effect for the next page of all servers", arguments: [false, true])
    func declarations(_ isOfStore: Bool) async throws {
        try await Self.withShelf { catalog in
            let owner: DeclarationOwner = isOfStore ? .store(Self.store) : .deployment
            // Another server, which does not learn of the change but by its reads.
            let other = PostgresCatalog(catalog.database, encodingEvents: \.json)
            for server in [catalog, other] { #expect(await Self.isUnknown(Self.request(), server)) }
            _ = try await catalog.attributes.declare(Self.definition(1), for: owner)
            var tags: Set<String> = []
            for server in [catalog, other] {
                let page = try await server.pages.page(Self.request(limit: 4))
                #expect(page.products.map(\.sku.text) == ["p3", "p0", "p1", "p2"], "4.25 has another type")
                tags.insert(page.planned.entityTag(day: 1))
            }
            #expect(tags.count == 1)
            _ = try await catalog.attributes.declare(Self.definition(2), for: owner)
            for server in [catalog, other] {
                let page = try await server.pages.page(Self.request(limit: 4))
                #expect(page.products.map(\.sku.text) == ["p3", "p0", "p2", "p1"])
                tags.insert(page.planned.entityTag(day: 1))
            }
            #expect(tags.count == 2)
            try await catalog.attributes.remove(attribute: Self.name, of: owner)
            for server in [catalog, other] { #expect(await Self.isUnknown(Self.request(), server)) }
            #expect(await Self.isUnknown(Self.request(on: nil), other))
        }
    }

    @Test("The titles of a picker follow the declarations on all servers", arguments: [false, true])
    func titles(_ isOfStore: Bool) async throws {
        try await Self.withShelf { catalog in
            let owner: DeclarationOwner = isOfStore ? .store(Self.store) : .deployment
            let other = PostgresCatalog(catalog.database, encodingEvents: \.json)
            for title in ["Rating", "Stars", "Stars"] {
                let definition = try AttributeDefinition(
                    name: Self.name,
                    form: .number(decimals: 1),
                    title: AttributeTitles(["en": title], field: "title")
                )
                _ = try await catalog.attributes.declare(.definition(definition), for: owner)
                for server in [catalog, other] {
                    let head = try await server.shelves.shelf(Self.store, Self.shelf)
                    let found = try await server.attributes.titledAttributes(of: head)
                    #expect(found.set.attributes.map { $0.definition.title.text(in: ["en"]) } == [title])
                    #expect(found.resolved.all.map(\.name) == [Self.name])
                }
            }
            try await catalog.attributes.remove(attribute: Self.name, of: owner)
            for server in [catalog, other] {
                let head = try await server.shelves.shelf(Self.store, Self.shelf)
                #expect(try await server.attributes.titledAttributes(of: head).set.isEmpty)
            }
            let head = try await catalog.shelves.shelf(Self.store, Self.shelf)
            _ = try await catalog.shelves.remove(store: Self.store)
            var missing = head
            missing.storeVersion += 1
            await #expect(throws: CatalogError.notFound("store “shop”")) {
                _ = try await catalog.attributes.titledAttributes(of: missing)
            }
        }
    }

    @Test("A cursor is invalid once its attribute is retyped, and other cursors stay valid")
    func cursors() async throws {
        try await Self.withShelf { catalog in
            _ = try await catalog.attributes.declare(Self.definition(1), for: .deployment)
            var (rating, price) = (Self.request(), Self.request(.system))
            rating.after = try await catalog.pages.page(rating).next
            price.after = try await catalog.pages.page(price).next
            #expect(try await catalog.pages.page(rating).products.map(\.sku.text) == ["p1", "p2"])
            _ = try await catalog.attributes.declare(Self.definition(2), for: .deployment)
            await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(rating) }
            #expect(try await catalog.pages.page(price).products.count == 2)
        }
    }

    @Test("Columns follow changed products, and a union has those of all its shelves")
    func changes() async throws {
        try await Self.withShelf { catalog in
            _ = try await catalog.attributes.declare(Self.definition(2), for: .store(Self.store))
            let other = CatalogKey("cheese")!
            _ = try await catalog.shelves.put(Shelf(key: other, title: "Cheese"), in: Self.store)
            var cheese = Product(sku: SKU("c")!, name: "C")
            cheese.attributes = #"{"rating":4.3}"#
            try await catalog.seed([cheese], on: other, in: Self.store)
            #expect(try await catalog.pages.order(Self.store, Self.shelf, Self.rating).ids == ["p3", "p0", "p2", "p1"])
            let all = Self.request(limit: 10, on: nil)
            #expect(try await catalog.pages.page(all).products.map(\.sku.text) == ["p3", "p0", "c", "p2", "p1"])
            _ = try await catalog.products.update(SKU("p1")!, in: Self.store) { old, _ in
                var product = old!
                product.attributes = #"{"rating":4.26}"#
                return product
            }
            #expect(try await catalog.pages.order(Self.store, Self.shelf, Self.rating).ids == ["p3", "p0", "p1", "p2"])
            #expect(try await catalog.pages.page(all).products.map(\.sku.text) == ["p3", "p0", "c", "p1", "p2"])
            #expect(catalog.shelfMemoryUse.columns.count > 0)
        }
    }

    @Test("A remembered or default sort by a deleted attribute is ignored, and applies again once it is declared")
    func ignoredSorts() async throws {
        try await Self.withShelf { catalog in
            let (ann, key) = (UserID("ann")!, SettingKey.sort(of: Self.shelf, in: Self.store))
            _ = try await catalog.attributes.declare(Self.definition(2), for: .deployment)
            _ = try await catalog.shelves.put(
                Shelf(key: Self.shelf, title: "Dairy", defaultSort: Self.rating),
                in: Self.store
            )
            let value = RememberedSort(Self.rating, try Filter(query: "rating_min=4")).value
            _ = try await catalog.settings.edit(SettingsEdit([.init(key, value)]), of: ann)
            var own = Self.request(nil, limit: 4)
            own.user = ann
            #expect(try await catalog.pages.page(own).products.map(\.sku.text) == ["p3", "p0", "p2"])
            try await catalog.attributes.remove(attribute: Self.name, of: .deployment)
            let (page, shared) = (try await catalog.pages.page(own), try await catalog.pages.page(Self.request(nil)))
            #expect(page.plan.source == .system && page.plan.resolvedSort.ignored == .user && page.products.count == 4)
            #expect(shared.plan.source == .system && shared.plan.resolvedSort.ignored == .shelf)
            #expect(try await catalog.settings.setting(key, of: ann).value == value)
            // A client can write back the sort that it has read.
            _ = try await catalog.shelves.put(
                Shelf(key: Self.shelf, title: "D", defaultSort: Self.rating),
                in: Self.store
            )
            _ = try await catalog.attributes.declare(Self.definition(2), for: .store(Self.store))
            #expect(try await catalog.pages.page(own).plan.resolvedSort.ignored == nil)
            #expect(try await catalog.pages.page(own).products.map(\.sku.text) == ["p3", "p0", "p2"])
        }
    }

    @Test(
        "An unknown attribute is neither a default sort nor copied to the manual order",
        arguments: StoreConformanceTests.Implementation.allCases
    )
    func unknownSorts(_ implementation: StoreConformanceTests.Implementation) async throws {
        try await implementation.withCatalog { catalog in
            let euro = Currency("EUR")!
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "Shop", currency: euro))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store)
            func parameter(_ body: () async throws(CatalogError) -> Void) async -> String? {
                do throws(CatalogError) {
                    try await body()
                    return nil
                } catch {
                    guard case .unknownSortKey(_, let parameter) = error else { return "\(error)" }
                    return parameter
                }
            }
            #expect(
                await parameter { () throws(CatalogError) in
                    var store = Store(key: Self.store, title: "Shop", currency: euro)
                    store.defaultSort = Self.rating
                    _ = try await catalog.shelves.put(store)
                } == "default_sort"
            )
            for (shelf, field) in [
                (Shelf(key: Self.shelf, title: "D", defaultSort: Self.rating), "default_sort"),
                (Shelf(key: Self.shelf, title: "D", positionSource: Self.rating), "position_source"),
            ] {
                #expect(
                    await parameter { () throws(CatalogError) in
                        _ = try await catalog.shelves.put(shelf, in: Self.store)
                    } == field
                )
            }
            #expect(
                await parameter { () throws(CatalogError) in
                    let edit = OrderEditRequest(store: Self.store, shelf: Self.shelf, edit: .snapshot(Self.rating))
                    _ = try await catalog.manualOrder.editOrder(edit, once: nil)
                } == "from_sort"
            )
        }
    }

    @Test("A re-sort follows an attribute that is declared again, and reports one that is gone")
    func resort() async throws {
        try await Self.withShelf { catalog in
            _ = try await catalog.attributes.declare(Self.definition(1), for: .deployment)
            _ = try await catalog.shelves.put(
                Shelf(key: Self.shelf, title: "Dairy", positionSource: Self.rating),
                in: Self.store
            )
            func resort() async throws -> (order: [String], moved: Int, ignored: [String]) {
                let ignored = Mutex<[String]>([])
                let summary = try await Resorter(catalog).run(
                    ResortRequest(),
                    .init(onIgnoredSource: { shelf, sort in ignored.withLock { $0.append("\(shelf.shelf) \(sort)") } })
                )
                let order = try await catalog.pages.order(Self.store, Self.shelf, .position).ids
                return (order, summary.moved, ignored.withLock { $0 })
            }
            let first = try await resort()
            #expect(first.order == ["p3", "p0", "p1", "p2"] && first.ignored.isEmpty, "4.25 has another type")
            let uses = try await catalog.attributes.uses(of: Self.name, in: .deployment)
            #expect(uses == AttributeUses(shelves: [.init(store: Self.store, shelf: Self.shelf)]))
            let version = try await catalog.shelves.shelf(Self.store, Self.shelf).state.version
            let second = try await resort()
            #expect(second.moved == 0 && second.order == first.order)
            #expect(try await catalog.shelves.shelf(Self.store, Self.shelf).state.version == version)
            _ = try await catalog.attributes.declare(Self.definition(2), for: .deployment)
            let changed = try await resort()
            #expect(changed.order == ["p3", "p0", "p2", "p1"] && changed.moved == 1)
            try await catalog.attributes.remove(attribute: Self.name, of: .deployment)
            let gone = try await resort()
            #expect(gone.order == changed.order && gone.moved == 0 && gone.ignored == ["dairy -rating"])
            // The declaration of the store is another one, and applies again.
            _ = try await catalog.attributes.declare(Self.definition(1), for: .store(Self.store))
            let again = try await resort()
            #expect(again.order == first.order && again.ignored.isEmpty)
        }
    }

    @Test(
        "A change of attributes changes the versions that open streams compare",
        arguments: StoreConformanceTests.Implementation.allCases
    )
    func versions(_ implementation: StoreConformanceTests.Implementation) async throws {
        try await implementation.withCatalog { catalog in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Dairy"), in: Self.store)
            let address = ShelfAddress(Self.store, Self.shelf)
            var versions: Set<ShelfVersion> = []
            for owner in [nil, .deployment, .store(Self.store)] as [DeclarationOwner?] {
                if let owner {
                    let name = owner == .deployment ? "one" : "two"
                    let definition = try AttributeDefinition(name: AttributeName(name)!, form: .text)
                    _ = try await catalog.attributes.declare(.definition(definition), for: owner)
                }
                let found = try #require(try await catalog.versions.versions(of: [address])[address] ?? nil)
                #expect(try await ShelfVersion(catalog.shelves.shelf(Self.store, Self.shelf)) == found)
                versions.insert(found)
            }
            #expect(versions.count == 3)
        }
    }
}
