internal import JSON

// The changes of stores, shelves, products, attributes, synonyms and prices. The stores of `CatalogPostgres` and of `InMemoryCatalog`, in Tests/, record them.
extension AuditChange {
    /// Returns the change of a store's rules; nil if nothing changed.
    ///
    /// - Parameter old: nil for a new store.
    package static func store(_ old: Store?, _ new: Store) -> AuditChange? {
        let changed = JSONValue.differences(old.map { fields(of: $0) }, fields(of: new))
        return changed.isEmpty ? nil : AuditChange(old == nil ? .storeCreate : .storeChange, nil, changed)
    }

    /// - Parameter products: the number of products that were deleted with the store.
    package static func deleted(_ store: Store, products: Int) -> AuditChange {
        let fields = JSONValue.differences(fields(of: store), nil)
        return AuditChange(.storeDelete, nil, fields + [.init("count", .integer(products))])
    }

    /// Returns the change of a shelf's rules; nil if nothing changed.
    ///
    /// - Parameter old: nil for a new shelf.
    package static func shelf(_ old: Shelf?, _ new: Shelf) -> AuditChange? {
        let changed = JSONValue.differences(old?.settings, new.settings)
        return changed.isEmpty ? nil : AuditChange(old == nil ? .shelfCreate : .shelfChange, new.key.text, changed)
    }

    package static func deleted(_ shelf: CatalogKey) -> AuditChange { AuditChange(.shelfDelete, shelf.text) }

    /// Returns the change of a product; nil if nothing changed. Its price is part of it, as long as `PriceStore` does not set it.
    ///
    /// - Parameter old: nil for a new product.
    /// - Throws: `fault` for attributes that are not JSON.
    package static func product(_ old: Product?, _ new: Product) throws(CatalogError) -> AuditChange? {
        // Attributes are parsed only if their texts differ.
        let fields = ProductField.allCases.filter { $0 != .attributes || old?.attributes != new.attributes }
        let before = try old.map { product throws(CatalogError) in try product.members(of: fields) }
        let changed = JSONValue.differences(before, try new.members(of: fields))
        return changed.isEmpty ? nil : AuditChange(old == nil ? .productCreate : .productChange, new.sku.text, changed)
    }

    /// - Throws: `fault` for attributes that are not JSON.
    package static func deleted(_ product: Product) throws(CatalogError) -> AuditChange {
        AuditChange(.productDelete, product.sku.text, JSONValue.differences(try product.members(), nil))
    }

    package static func placed(_ sku: SKU, on shelf: CatalogKey) -> AuditChange {
        AuditChange(.placementCreate, sku.text, [.init("shelf", .string(shelf.text))])
    }

    package static func unplaced(_ sku: SKU, from shelf: CatalogKey) -> AuditChange {
        AuditChange(.placementDelete, sku.text, [.init("shelf", .string(shelf.text))])
    }

    /// Returns the change of a declaration of an attribute; nil if nothing changed.
    ///
    /// - Parameters:
    ///   - old: nil for a new declaration.
    ///   - new: nil for a deleted one.
    package static func attribute(
        _ old: AttributeDeclaration?,
        _ new: AttributeDeclaration?,
        of owner: DeclarationOwner
    ) -> AuditChange? {
        guard let name = (new ?? old)?.name else { return nil }
        // Another type has other members.
        let names = Set((old?.members ?? []).map(\.name))
        let added = (new?.members ?? []).filter { !names.contains($0.name) }
        let before = old.map { $0.members + added.map { .init($0.name, .null) } }
        let changed = JSONValue.differences(before, new?.members)
        guard !changed.isEmpty else { return nil }
        let action: AuditAction =
            switch owner {
            case .deployment: new == nil ? .deploymentAttributeDelete : .deploymentAttributePut
            case .store: new == nil ? .attributeDelete : .attributePut
            }
        return AuditChange(action, name.text, changed)
    }

    /// Returns the change of synonyms; nil if nothing changed. The entry has the number of all lists, and the lists that were added and removed.
    package static func synonyms(_ change: SynonymChange) -> AuditChange? {
        guard change.isChange else { return nil }
        let action: AuditAction =
            switch change.owner {
            case .deployment: change.new == nil ? .deploymentSynonymsDelete : .deploymentSynonymsPut
            case .store: change.new == nil ? .synonymsDelete : .synonymsPut
            }
        let added = change.new?.lists(without: change.old) ?? []
        let removed = change.old?.lists(without: change.new) ?? []
        return AuditChange(
            action,
            nil,
            [
                .init("count", .integer(change.new?.count ?? 0)),
                .init("added", .array(Array(added.prefix(itemLimit)))),
                .init("removed", .array(Array(removed.prefix(itemLimit)))),
            ]
        )
    }

    /// Returns the change of prices that `PriceStore` sets; nil if there are none. The subject is the product if it is the only one.
    /// A price that PUT or PATCH sets is part of `product`.
    package static func prices(_ revisions: [PriceRevision]) -> AuditChange? {
        guard let first = revisions.first else { return nil }
        let products = revisions.prefix(itemLimit).map { revision in
            JSONValue.object(
                [.init("sku", .string(revision.sku.text))]
                    + JSONValue.differences(fields(of: revision.old), fields(of: revision.new))
            )
        }
        return AuditChange(
            .pricesSet,
            revisions.count == 1 ? first.sku.text : nil,
            [.init("count", .integer(revisions.count)), .init("products", .array(products))]
        )
    }

    private static func fields(of prices: PriceRevision.Prices) -> [JSONValue.Member] {
        [.init("price_minor", .integer(prices.price)), .init("regular_price_minor", .integer(prices.regular))]
    }

    private static func fields(of store: Store) -> [JSONValue.Member] {
        [
            .init("title", .string(store.title)), .init("currency", .string(store.currency.code)),
            .init("locale", .string(store.locale)), .init("collation", .text(store.collation)),
            .init("unit_pricing", .string(store.unitPricing.rawValue)),
            .init("sold_out", .string(store.soldOut.rawValue)),
            .init("default_sort", .text(store.defaultSort?.description)),
            .init("popularity_metric", .string(store.popularityMetric.rawValue)),
            .init("popularity_half_life_days", .integer(store.popularityHalfLifeDays)),
            .init("newcomer_boost", .number(JSONWriter.text(of: store.newcomerBoost))),
        ]
    }
}
