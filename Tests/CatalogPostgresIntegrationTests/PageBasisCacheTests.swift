import Catalog
import TestSupport
import Testing

@testable import CatalogPostgres

/// The cache of pages is limited in bytes, for requests of any size.
@Suite struct PageBasisCacheTests {
    private static let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)

    private static let location = ShelfLocation(storeID: 1, shelfID: 1)

    private static func request(_ shelf: Int, _ user: Int) -> PageRequest {
        var request = PageRequest(store: store.key, shelf: CatalogKey("shelf-\(shelf)")!)
        request.user = UserID("user-\(user)")
        return request
    }

    private static func basis(_ shelf: Int, _ sorts: RememberedSorts) -> LocatedBasis {
        let shelf = Shelf(key: CatalogKey("shelf-\(shelf)")!, title: "Shelf")
        let state = ShelfState(
            shelf: shelf,
            productCount: 0,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 1,
            orderVersion: 1
        )
        return LocatedBasis(
            basis: PageBasis(head: ShelfHead(store: store, storeVersion: 1, state: state), sorts: sorts),
            location: location
        )
    }

    private static let texts = (10..<80).map { "\(String(repeating: "x", count: 44)) \($0)" }

    /// A remembered filter of more than 3 KiB, which differs from the others in one text.
    private static func sorts(_ number: Int) throws -> RememberedSorts {
        // Parsing the texts of thousands of filters would take most of the test's time.
        let filter = try Filter([.tag: .texts(["\(number)"] + texts)])
        return RememberedSorts(shelf: RememberedSort(Sort(.price, .ascending)!, filter))
    }

    @Test("Large remembered filters of many users take at most 16 MiB")
    func sortsAreLimited() throws {
        let cache = PageBasisCache(AttributeSets())
        let (shelves, users) = (200, 60)
        for user in 0..<users {
            for shelf in 0..<shelves {
                let sorts = try Self.sorts(user * shelves + shelf)
                cache.insert(Self.basis(shelf, sorts), of: Self.request(shelf, user))
            }
        }
        let kept = (0..<users).reduce(0) { sum, user in
            sum + (0..<shelves).count { cache.basis(of: Self.request($0, user)) != nil }
        }
        #expect(kept > 0)
        #expect(kept * 3200 <= 16 << 20, "\(kept) sorts of 3200 bytes are kept")
    }

    @Test("A remembered sort is returned with the latest head of its shelf")
    func sortsFollowTheShelf() throws {
        let attributes = AttributeSets()
        let cache = PageBasisCache(attributes)
        let sorts = try Self.sorts(1)
        cache.insert(Self.basis(1, sorts), of: Self.request(1, 1))
        var newer = Self.basis(1, .none).basis.head
        newer.storeVersion = 2
        cache.insert(LocatedHead(head: newer, location: Self.location), .sample, of: Self.request(1, 2))
        #expect(cache.basis(of: Self.request(1, 1)) == nil, "the attributes are not in memory")
        let known = AttributeSets.Known(storeVersion: 2, revision: 0, attributes: .sample)
        #expect(attributes.keep(known, of: newer, Self.location.storeID) == .sample)
        let found = try #require(cache.basis(of: Self.request(1, 1)))
        #expect(found.basis.head == newer)
        #expect(found.basis.sorts == sorts)
        #expect(found.basis.attributes == .sample)
        #expect(cache.basis(of: Self.request(1, 2)) == nil)
    }

    @Test("Stores with equal attributes share them, and attributes of other versions are not kept for a head")
    func sharedAttributes() throws {
        let sets = AttributeSets()
        var head = Self.basis(1, .none).basis.head
        func keep(_ storeID: Int32, version: Int64) -> ResolvedAttributes? {
            let own = ResolvedAttributes(.sample)
            return sets.keep(.init(storeVersion: version, revision: 0, attributes: own), of: head, storeID)
        }
        let first = try #require(keep(1, version: 1))
        #expect(keep(2, version: 1) === first)
        #expect(sets.known(of: head, in: 2) === first)
        #expect(keep(3, version: 2) == nil && sets.known(of: head, in: 3) == nil)
        head.attributeRevision = 1
        #expect(sets.known(of: head, in: 1) == nil)
    }
}
