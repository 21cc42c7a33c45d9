import Catalog
import CatalogJSON
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Synonyms of the deployment and of stores, in memory and in PostgreSQL.
@Suite(.timeLimit(.minutes(15))) struct SynonymStoreTests {
    typealias Implementation = StoreConformanceTests.Implementation

    private static let shop = StoreConformanceTests.shop
    private static let owners: [DeclarationOwner] = [.deployment, .store(shop)]

    private static func group(_ texts: String...) throws -> Synonyms { try Synonyms(groups: [texts], oneWay: []) }

    @Test("Synonyms are set, replaced and deleted", arguments: Implementation.allCases, owners)
    func lifecycle(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let (pop, bio) = (try Self.group("pop", "soft “drink”"), try Self.group("žvake", "guma"))
            #expect(try await catalog.synonyms.synonyms(of: owner) == nil)
            #expect(try await catalog.synonyms.set(pop, for: owner))
            #expect(try await catalog.synonyms.synonyms(of: owner) == pop)
            #expect(try await !catalog.synonyms.set(pop, for: owner))
            #expect(try await !catalog.synonyms.set(bio, for: owner))
            #expect(try await catalog.synonyms.synonyms(of: owner) == bio)
            for other in Self.owners where other != owner {
                #expect(try await catalog.synonyms.synonyms(of: other) == nil)
            }
            try await catalog.synonyms.remove(synonymsOf: owner)
            #expect(try await catalog.synonyms.synonyms(of: owner) == nil)
            await #expect(throws: CatalogError.noSynonyms(of: owner)) {
                try await catalog.synonyms.remove(synonymsOf: owner)
            }
        }
    }

    @Test(
        "A change with an unmet expectation is refused, and changes nothing",
        arguments: Implementation.allCases,
        owners
    )
    func expectations(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let (pop, bio) = (try Self.group("pop", "soda"), try Self.group("bio", "eko"))
            await #expect(throws: CatalogError.staleSynonyms(current: nil)) {
                try await catalog.synonyms.set(pop, for: owner) { $0 != nil }
            }
            #expect(try await catalog.synonyms.set(pop, for: owner) { $0 == nil })
            await #expect(throws: CatalogError.staleSynonyms(current: pop)) {
                try await catalog.synonyms.set(bio, for: owner) { $0 == bio }
            }
            await #expect(throws: CatalogError.staleSynonyms(current: pop)) {
                try await catalog.synonyms.remove(synonymsOf: owner) { $0 == bio }
            }
            #expect(try await catalog.synonyms.synonyms(of: owner) == pop)
            try await catalog.synonyms.remove(synonymsOf: owner) { $0 == pop }
            #expect(try await catalog.synonyms.synonyms(of: owner) == nil)
        }
    }

    @Test("Synonyms of a store that does not exist are not found", arguments: Implementation.allCases)
    func unknownStore(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            let (none, pop) = (DeclarationOwner.store(CatalogKey("none")!), try Self.group("pop", "soda"))
            let expected = CatalogError.notFound("store “none”")
            await #expect(throws: expected) { try await catalog.synonyms.synonyms(of: none) }
            await #expect(throws: expected) { try await catalog.synonyms.set(pop, for: none) }
            await #expect(throws: expected) { try await catalog.synonyms.remove(synonymsOf: none) }
        }
    }

    @Test(
        "Each change of a store's synonyms raises its version, and those of the deployment do not",
        arguments: Implementation.allCases
    )
    func storeVersion(_ implementation: Implementation) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            func version() async throws -> Int64 {
                try await catalog.shelves.shelf(Self.shop, StoreConformanceTests.dairy).storeVersion
            }
            let (pop, bio) = (try Self.group("pop", "soda"), try Self.group("bio", "eko"))
            var last = try await version()
            for synonyms in [pop, bio, nil] {
                if let synonyms {
                    _ = try await catalog.synonyms.set(synonyms, for: .store(Self.shop))
                } else {
                    try await catalog.synonyms.remove(synonymsOf: .store(Self.shop))
                }
                let next = try await version()
                #expect(next > last)
                last = next
            }
            _ = try await catalog.synonyms.set(pop, for: .store(Self.shop))
            last = try await version()
            _ = try await catalog.synonyms.set(pop, for: .store(Self.shop))
            _ = try await catalog.synonyms.set(bio, for: .deployment)
            #expect(try await version() == last)
        }
    }

    @Test("The same lists in another order change nothing", arguments: Implementation.allCases, owners)
    func order(_ implementation: Implementation, _ owner: DeclarationOwner) async throws {
        try await implementation.withProducts { (catalog: CatalogStorage) async throws in
            func version() async throws -> Int64 {
                try await catalog.shelves.shelf(Self.shop, StoreConformanceTests.dairy).storeVersion
            }
            let lists = [["pop", "soda"], ["bio", "eko"]]
            let first = try Synonyms(groups: lists, oneWay: [])
            #expect(try await catalog.synonyms.set(first, for: owner))
            let before = try await version()
            #expect(try await !catalog.synonyms.set(Synonyms(groups: lists.reversed(), oneWay: []), for: owner))
            #expect(try await catalog.synonyms.synonyms(of: owner) == first)
            #expect(try await version() == before)
        }
    }

    @Test("A store that is created again has no synonyms of the deleted one", arguments: Implementation.allCases)
    func recreatedStore(_ implementation: Implementation) async throws {
        try await implementation.withShop { (catalog: CatalogStorage) async throws in
            _ = try await catalog.synonyms.set(Self.group("pop", "soda"), for: .store(Self.shop))
            let store = try await catalog.shelves.store(Self.shop)
            _ = try await catalog.shelves.remove(store: Self.shop)
            await #expect(throws: CatalogError.notFound("store “\(Self.shop)”")) {
                try await catalog.synonyms.synonyms(of: .store(Self.shop))
            }
            _ = try await catalog.shelves.put(store)
            #expect(try await catalog.synonyms.synonyms(of: .store(Self.shop)) == nil)
        }
    }

    // MARK: - In PostgreSQL

    @Test("Each change of the deployment's synonyms raises their revision, and a refused one does not")
    func revision() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            func revision() async throws -> Int64 {
                try await catalog.database.writes.perform { connection in
                    try connection.query("SELECT synonym_revision FROM deployment") { try $0.first { try $0.int8(0) }! }
                }
            }
            let (pop, bio) = (try Self.group("pop", "soda"), try Self.group("bio", "eko"))
            var last = try await revision()
            for synonyms in [pop, bio] {
                _ = try await catalog.synonyms.set(synonyms, for: .deployment)
                #expect(try await revision() > last)
                last = try await revision()
            }
            _ = try await catalog.synonyms.set(bio, for: .deployment)
            await #expect(throws: CatalogError.staleSynonyms(current: bio)) {
                try await catalog.synonyms.set(pop, for: .deployment) { $0 == pop }
            }
            #expect(try await revision() == last)
            try await catalog.synonyms.remove(synonymsOf: .deployment)
            #expect(try await revision() > last)
        }
    }

    @Test("The synonyms in effect are those of the deployment and of the store, without what this release cannot read")
    func inEffect() async throws {
        try await withShop { catalog in
            func inEffect() async throws -> EffectiveSynonyms {
                try await catalog.database.writes.perform { connection in
                    let id = try connection.query(ShelfLookup.storeID, [.text(Self.shop.text)]) {
                        try $0.first { try $0.int4(0) }
                    }
                    return try connection.query(PostgresSynonymStore.inEffect, [.int4(id)]) {
                        try PostgresSynonymStore.inEffect($0)
                    }
                }
            }
            let first = try await inEffect()
            #expect(first.all == .none && first.ofDeployment == nil && first.ofStore == nil)
            _ = try await catalog.synonyms.set(Self.group("pop", "soda"), for: .deployment)
            _ = try await catalog.synonyms.set(Self.group("bio", "eko"), for: .store(Self.shop))
            let second = try await inEffect()
            #expect(second.ofDeployment?.groups == [["pop", "soda"]] && second.ofStore?.groups == [["bio", "eko"]])
            #expect(Set(second.all.groups) == [["pop", "soda"], ["bio", "eko"]])
            #expect(second.revision > first.revision && second.storeVersion > first.storeVersion)
            try await catalog.database.writes.perform {
                try $0.run(
                    script: #"UPDATE deployment_synonyms SET document = '{"synonyms":[["a"],["b","c"]],"later":{}}'"#
                )
            }
            #expect(try await Set(inEffect().all.groups) == [["b", "c"], ["bio", "eko"]])
            #expect(try await catalog.synonyms.synonyms(of: .deployment)?.groups == [["b", "c"]])
        }
    }

    private func withShop(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            try await body(catalog)
        }
    }
}
