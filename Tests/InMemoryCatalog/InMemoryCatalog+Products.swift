package import Catalog
internal import CatalogJSON
internal import Ordering
internal import Synchronization

extension InMemoryCatalog {
    package func put(_ store: Store) async throws(CatalogError) -> Bool {
        let now = clock()
        let result: Result<Bool, CatalogError> = content.withLock { content in
            let old = content[store.key].flatMap { $0.isRemoved ? nil : $0 }
            if let old, old.store.currency != store.currency,
                old.products.values.contains(where: { $0.priceMinor != nil || $0.regularPriceMinor != nil })
            {
                return .failure(.currencyInUse(old.store))
            }
            do throws(CatalogError) {
                try resolvedAttributes(of: old).check(store.attributeSorts(since: old?.store))
            } catch { return .failure(error) }
            content[store.key, default: StoreContent(store: store)].store = store
            content[store.key]!.isRemoved = false
            content[store.key]!.version += 1
            content[store.key]!.record(.store(old?.store, store), now)
            return .success(old == nil)
        }
        return try result.get()
    }

    package func remove(store: CatalogKey) async throws(CatalogError) -> Int {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            let count = content.products.count
            content.record(.deleted(content.store, products: count), now)
            content.isRemoved = true
            content.version += 1
            content.shelfOrderVersion += 1
            content.products = [:]
            content.purchases = [:]
            content.responses = RecordedResponses()
            content.attributes = [:]
            content.synonyms = nil
            for key in content.shelves.keys {
                content.shelves[key]!.remove()
                content.shelves[key]!.positions = [:]
            }
            return count
        }
    }

    package func update(
        shelf key: CatalogKey,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Shelf?) throws(CatalogError) -> Shelf
    ) async throws(CatalogError) -> Bool {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            let stored = content.shelves[key].flatMap { $0.isRemoved ? nil : $0.shelf }
            let shelf = try change(stored)
            try resolvedAttributes(of: content).check(shelf.attributeSorts(since: stored))
            if let parent = shelf.parent, content.shelves[parent].map({ $0.isRemoved }) ?? true {
                throw .unprocessable(field: "parent", detail: "shelf “\(parent)” does not exist")
            }
            let old = content.shelves[shelf.key]
            let wasThere = old.map { !$0.isRemoved } ?? false
            // The store's version covers what shelves inherit.
            if let old, (old.shelf.parent, old.shelf.defaultSort) != (shelf.parent, shelf.defaultSort) {
                content.version += 1
            }
            if old == nil { content.shelfOrder.append(shelf.key) }
            content.shelves[shelf.key, default: ShelfContent(shelf: shelf, modifiedAt: now)].shelf = shelf
            content.shelves[shelf.key]!.isRemoved = false
            content.shelves[shelf.key]!.version += 1
            content.record(.shelf(wasThere ? old?.shelf : nil, shelf), now)
            return !wasThere
        }
    }

    package func update(
        _ sku: SKU,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Product?, Store) throws(CatalogError) -> Product
    ) async throws(CatalogError) -> UpdateEffect {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            let old = content.products[sku]
            var product = try change(old, content.store)
            try checkAttributes(product, replacing: old, in: content)
            product.createdAt = old?.createdAt ?? now
            product.popularity = old?.popularity ?? .none
            product.modifiedAt = old?.modifiedAt ?? now
            if product == old { return .unchanged }
            product.modifiedAt = now
            content.products[product.sku] = product
            content.record(try .product(old, product), now)
            for key in content.shelves.keys where content.shelves[key]!.placed.contains(product.sku) {
                content.shelves[key]!.version += 1
            }
            return old == nil ? .created : .changed
        }
    }

    /// Stores a product with its given times and popularity.
    package func seed(_ product: Product, in store: CatalogKey, on shelves: [CatalogKey]) throws(CatalogError) {
        try write(store) { content in content.products[product.sku] = product }
        for shelf in shelves { _ = try addPlacement(product.sku, shelf, store) }
    }

    /// Sets the shelf's dimension to that of most of its products, as imports do.
    package func settleDimension(of shelf: CatalogKey, in store: CatalogKey) throws(CatalogError) {
        try write(store) { content in
            guard let placed = content.shelves[shelf]?.placed else { return }
            var counts: [Dimension: Int] = [:]
            for sku in placed {
                if let dimension = content.products[sku]?.unitPrice?.dimension { counts[dimension, default: 0] += 1 }
            }
            let best = Dimension.allCases.max { a, b in
                (counts[a] ?? 0, -a.ordinal) < (counts[b] ?? 0, -b.ordinal)
            }
            content.shelves[shelf]!.settledDimension = best!
        }
    }

    package func remove(product sku: SKU, from store: CatalogKey) async throws(CatalogError) {
        let now = clock()
        try write(store) { content throws(CatalogError) in
            guard let old = content.products.removeValue(forKey: sku) else { throw .notFound("product “\(sku)”") }
            content.record(try .deleted(old), now)
            for key in content.shelves.keys where content.shelves[key]!.placed.remove(sku) != nil {
                content.shelves[key]!.version += 1
                content.shelves[key]!.orderVersion += 1
            }
        }
    }

    package func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError) {
        let now = clock()
        try write(store) { content throws(CatalogError) in
            guard let old = content.shelves[shelf], !old.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            guard !content.shelves.values.contains(where: { !$0.isRemoved && $0.shelf.parent == shelf }) else {
                throw .conflict("shelf “\(shelf)” has shelves under it")
            }
            content.shelves[shelf]!.remove()
            content.record(.deleted(shelf), now)
        }
    }

    package func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try addPlacement(sku, shelf, store)
    }

    private func addPlacement(_ sku: SKU, _ shelf: CatalogKey, _ store: CatalogKey) throws(CatalogError) -> Bool {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            guard content.products[sku] != nil else { throw .notFound("product “\(sku)”") }
            guard var old = content.shelves[shelf], !old.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            guard old.placed.insert(sku).inserted else { return false }
            if old.positions[sku] == nil {
                old.positions[sku] = PathKey.appending(1, after: old.positions.values.max())[0]
            }
            old.version += 1
            old.orderVersion += 1
            content.shelves[shelf] = old
            content.record(.placed(sku, on: shelf), now)
            return true
        }
    }

    package func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) {
        let now = clock()
        try write(store) { content throws(CatalogError) in
            guard let old = content.shelves[shelf], !old.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            guard content.shelves[shelf]!.placed.remove(sku) != nil else {
                throw .notFound("product “\(sku)” on shelf “\(shelf)”")
            }
            content.shelves[shelf]!.version += 1
            content.shelves[shelf]!.orderVersion += 1
            content.record(.unplaced(sku, from: shelf), now)
        }
    }
}
