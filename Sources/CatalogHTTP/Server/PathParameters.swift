internal import Catalog

/// The parameters of a path, each checked when the path is matched.
struct PathParameters: Sendable {
    private var keys: (store: CatalogKey?, shelf: CatalogKey?) = (nil, nil)
    private var product: SKU?
    private var ids: (list: UniqueID?, item: UniqueID?, share: UniqueID?) = (nil, nil, nil)
    private var kind: ProblemKind?
    /// The key of a setting, unchecked.
    private(set) var settingName = ""

    /// Takes a parameter from its segment; false if nothing can have that name.
    mutating func take(_ name: Name, _ segment: String) -> Bool {
        switch name {
        case .store: keys.store = CatalogKey(segment); return keys.store != nil
        case .shelf: keys.shelf = CatalogKey(segment); return keys.shelf != nil
        case .sku: product = SKU(segment); return product != nil
        case .list: ids.list = UniqueID(segment); return ids.list != nil
        case .item: ids.item = UniqueID(segment); return ids.item != nil
        case .share: ids.share = UniqueID(segment); return ids.share != nil
        case .slug: kind = ProblemKind(rawValue: segment); return kind != nil
        case .key: settingName = segment; return true
        }
    }

    /// The names that a template may use in braces.
    enum Name: String, CaseIterable, Sendable {
        case store, shelf, sku, list, item, share, slug
        /// The rest of the path, slashes included.
        case key
    }

    var store: CatalogKey { get throws(CatalogError) { try require(keys.store, .store) } }
    var shelf: CatalogKey { get throws(CatalogError) { try require(keys.shelf, .shelf) } }
    var sku: SKU { get throws(CatalogError) { try require(product, .sku) } }
    var list: UniqueID { get throws(CatalogError) { try require(ids.list, .list) } }
    var item: UniqueID { get throws(CatalogError) { try require(ids.item, .item) } }
    var share: UniqueID { get throws(CatalogError) { try require(ids.share, .share) } }
    var problem: ProblemKind { get throws(CatalogError) { try require(kind, .slug) } }

    private func require<T>(_ value: T?, _ name: Name) throws(CatalogError) -> T {
        guard let value else { throw .fault("the path has no parameter {\(name.rawValue)}") }
        return value
    }
}
