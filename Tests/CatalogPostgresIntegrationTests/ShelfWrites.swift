import Catalog
import LibPQ
import Ordering
import TestSupport

@testable import CatalogPostgres

/// Random writes of every kind to a small catalog whose shelves share products.
struct ShelfWrites {
    static let store = CatalogKey("s")!
    static let shelves = ["x", "y", "z"].map { CatalogKey($0)! }
    /// The products that may exist.
    private static let productCount = 60

    enum Kind: CaseIterable {
        case put, place, unplace, remove, prices, move, order, undo, smallImport, largeImport, pruningImport, purchases,
            scores, shelf, soldOut, boost,
            compaction, recollation, language

        /// Whether it changes so few products of a shelf that a server follows it.
        var isSmall: Bool {
            switch self {
            case .order, .undo, .largeImport, .pruningImport, .boost, .recollation, .language, .scores: false
            default: true
            }
        }
    }

    let catalog: PostgresCatalog
    var random: SeededGenerator

    init(_ catalog: PostgresCatalog, seed: Int) {
        self.catalog = catalog
        random = SeededGenerator(seed: UInt64(seed))
    }

    /// Creates the store and its shelves, with products.
    func prepare() async throws {
        _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
        for shelf in Self.shelves {
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: shelf.text), in: Self.store)
        }
        let rows = (0..<Self.productCount).flatMap { number in
            Self.shelves.prefix(number % 3 + 1).map { "s,\($0),p\(number),Product \(number),\(number),\(number)\n" }
        }
        try await importFile("store,shelf,sku,name,price,position\n\(rows.joined())")
    }

    private func importFile(_ file: String, prunes: Bool = false) async throws {
        var options = ImportOptions(format: .csv, createsStores: false)
        options.prunes = prunes
        options.confirmsPrune = true
        _ = try await Importer(catalog).importFile(ImporterTests.Chunks(text: file), options)
    }

    private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    private mutating func sku() -> String { "p\(number(below: Self.productCount))" }
    private mutating func shelf() -> CatalogKey { Self.shelves[number(below: Self.shelves.count)] }

    private mutating func product() -> Product {
        let other = Product.random(0, using: &random)
        var product = Product(sku: SKU(sku())!, name: other.name)
        (product.brand, product.priceMinor, product.size) = (other.brand, other.priceMinor, other.size)
        (product.inStock, product.tags) = (other.inStock, other.tags)
        return product
    }

    private mutating func importRow() -> String {
        let product = product()
        return "s,\(shelf()),\(product.sku),\"\(product.name.replacing("\"", with: ""))\",\(number(below: 99)),\n"
    }

    /// Runs a write of a kind. One that another writer has made impossible does nothing.
    mutating func run(_ kind: Kind) async throws {
        do { try await write(kind) } catch CatalogError.notFound {} catch CatalogError.conflict {} catch CatalogError
            .unprocessable
        {} catch CatalogError.unavailable {}
    }

    private mutating func write(_ kind: Kind) async throws {
        switch kind {
        case .put: _ = try await catalog.products.put(product(), in: Self.store)
        case .place:
            // Most products are on the shelf already.
            var isPlaced = false
            for _ in 0..<20 where !isPlaced { isPlaced = try await place(sku(), on: shelf()) }
        case .unplace: try await catalog.products.unplace(SKU(sku())!, from: shelf(), in: Self.store)
        case .remove: try await catalog.products.remove(product: SKU(sku())!, from: Self.store)
        case .prices:
            var changes: [PriceChange] = []
            for sku in Set((0...number(below: 5)).map { _ in sku() }).sorted() {
                guard try await !catalog.known([SKU(sku)!], in: Self.store).isEmpty else { continue }
                let price = Int64(number(below: 1000))
                changes.append(PriceChange(sku: SKU(sku)!, priceMinor: price, regularPriceMinor: nil))
            }
            _ = try await catalog.prices.setPrices(changes, in: Self.store)
        case .move:
            try await edit(.moves([OrderMove([sku()], number(below: 2) == 0 ? .first : .position(number(below: 20)))]))
        case .order: try await edit(.snapshot(Sort(.price, .descending)!))
        case .undo: try await edit(.undo(change: nil))
        case .smallImport: try await importFile("store,shelf,sku,name,price,brand\n\(importRow())\(importRow())")
        case .largeImport:
            let rows = (0..<40).map { _ in importRow() }
            try await importFile("store,shelf,sku,name,price,brand\n\(rows.joined())")
        case .pruningImport:
            let rows = (0..<Self.productCount).filter { $0 % 20 > 0 }.map { "s,x,p\($0),Product \($0)\n" }
            try await importFile("store,shelf,sku,name\n\(rows.joined())", prunes: true)
        case .purchases: try await buy(1)
        case .scores: try await buy(30)
        case .shelf:
            var shelf = Shelf(key: shelf(), title: "T\(number(below: 9))")
            shelf.soldOut = [nil, .last, .mixed][number(below: 3)]
            _ = try await catalog.shelves.put(shelf, in: Self.store)
        case .soldOut: try await changeStore { $0.soldOut = $0.soldOut == .last ? .mixed : .last }
        case .boost:
            let boost = Double(number(below: 50))
            try await changeStore { $0.newcomerBoost = boost }
            _ = try await Resorter(catalog).run(ResortRequest())
        case .language:
            let language = ["sv", "hr", "cs", "root"][number(below: 4)]
            try await changeStore { $0.collation = language }
        case .compaction: try await compact()
        case .recollation:
            let owner = PostgresPool(catalog.database.writes.configuration.inOwnerRole, options: .init(size: 2))
            defer { owner.shutDown() }
            let sku = sku()
            try await owner.perform {
                try $0.execute("UPDATE product SET name_key = '\\x01' WHERE store_id = 1 AND sku = $1", [.text(sku)])
            }
            _ = try await Recollation(owner).run()
        }
    }

    /// - Returns: whether the product was not there before; false if it does not exist.
    private func place(_ sku: String, on shelf: CatalogKey) async throws -> Bool {
        guard try await !catalog.known([SKU(sku)!], in: Self.store).isEmpty else { return false }
        return try await catalog.products.place(SKU(sku)!, on: shelf, in: Self.store)
    }

    private mutating func edit(_ edit: ManualOrderEdit) async throws {
        _ = try await catalog.manualOrder.editOrder(
            OrderEditRequest(store: Self.store, shelf: shelf(), edit: edit),
            once: nil
        )
    }

    private mutating func buy(_ count: Int) async throws {
        let purchases = (0..<count).map { _ in
            Purchase(eventID: UniqueID.random().text, sku: SKU(sku())!, quantity: 1, at: .now(), customer: nil)
        }
        _ = try await catalog.purchases.add(purchases, to: Self.store)
        _ = try await PurchaseFold(catalog).run()
        _ = try await Resorter(catalog).run(ResortRequest())
    }

    private func changeStore(_ change: (inout Store) -> Void) async throws {
        var store = try await catalog.shelves.store(Self.store)
        change(&store)
        _ = try await catalog.shelves.put(store)
    }

    /// Gives a product a long key at the same place, as if by moves, and compacts it.
    private mutating func compact() async throws {
        let (shelf, sku, suffix) = (shelf(), sku(), PathKey([Int64](repeating: 1, count: 60)).bytes)
        try await catalog.database.writes.transaction(within: .edit) { connection in
            let found = try connection.query(
                "SELECT shelf_id FROM shelf WHERE store_id = 1 AND key = $1 FOR NO KEY UPDATE",
                [.text(shelf.text)]
            ) { try $0.first { try $0.int4(0) } }
            guard let id = found else { return }
            let changed = try connection.execute(
                """
                UPDATE placement_position SET key = key || $3
                WHERE store_id = 1 AND shelf_id = $1 AND sku = $2 AND octet_length(key) < 64 AND NOT is_removed
                """,
                [.int4(id), .text(sku), .bytea(suffix)]
            )
            if changed > 0 { try ShelfChanges([sku], on: id).recordAndBump(in: 1, connection) }
        }
        _ = try await ManualOrderCompaction(catalog).run()
    }
}
