internal import Catalog
internal import Site

/// The parameters of a path, validated when the path is matched.
struct PathParameters: Sendable {
    private var keys: (store: CatalogKey?, shelf: CatalogKey?, name: CatalogKey?) = (nil, nil, nil)
    private var product: SKU?
    private var ids: (list: UniqueID?, item: UniqueID?, share: UniqueID?) = (nil, nil, nil)
    private var parsedProblem: ProblemKind?
    private var parsedGuide: Guide?
    private var parsedPicture: Picture?
    private var parsedDiagram: Diagram?
    /// The key of a setting, not yet validated.
    private(set) var settingName = ""
    /// The name of an attribute, not yet validated.
    private var attributeName = ""

    /// Parses a parameter from its segment; false if the value is invalid.
    mutating func parse(_ name: Name, _ segment: String) -> Bool {
        switch name {
        case .store: keys.store = CatalogKey(segment); return keys.store != nil
        case .shelf: keys.shelf = CatalogKey(segment); return keys.shelf != nil
        case .name: keys.name = CatalogKey(segment); return keys.name != nil
        case .sku: product = SKU(segment); return product != nil
        case .list: ids.list = UniqueID(segment); return ids.list != nil
        case .item: ids.item = UniqueID(segment); return ids.item != nil
        case .share: ids.share = UniqueID(segment); return ids.share != nil
        case .slug: parsedProblem = ProblemKind(rawValue: segment); return parsedProblem != nil
        case .guide: parsedGuide = Guide.all.first { $0.name == segment }; return parsedGuide != nil
        case .picture: parsedPicture = Picture(segment); return parsedPicture != nil
        case .diagram: parsedDiagram = Diagram.all.first { $0.name == segment }; return parsedDiagram != nil
        case .attribute: attributeName = segment; return !segment.isEmpty
        case .key: settingName = segment; return true
        }
    }

    /// The parameter names allowed in path templates.
    enum Name: String, CaseIterable, Sendable {
        case store, shelf, name, attribute, sku, list, item, share, slug, guide, picture, diagram
        /// The rest of the path, including slashes.
        case key
    }

    var store: CatalogKey { get throws(CatalogError) { try require(keys.store, .store) } }
    /// The store; nil if the path names none.
    var storeIfNamed: CatalogKey? { keys.store }
    var shelf: CatalogKey { get throws(CatalogError) { try require(keys.shelf, .shelf) } }
    /// The name of a profile of imports.
    var name: CatalogKey { get throws(CatalogError) { try require(keys.name, .name) } }
    /// - Throws: `malformed` for an invalid name.
    var attribute: AttributeName {
        get throws(CatalogError) {
            guard let name = AttributeName(attributeName) else {
                throw .malformed(
                    parameter: "attribute",
                    detail: "attribute must be \(AttributeName.rule) (got “\(attributeName.visible.prefix(64))”)"
                )
            }
            return name
        }
    }
    var sku: SKU { get throws(CatalogError) { try require(product, .sku) } }
    var list: UniqueID { get throws(CatalogError) { try require(ids.list, .list) } }
    var item: UniqueID { get throws(CatalogError) { try require(ids.item, .item) } }
    var share: UniqueID { get throws(CatalogError) { try require(ids.share, .share) } }
    var problem: ProblemKind { get throws(CatalogError) { try require(parsedProblem, .slug) } }
    var guide: Guide { get throws(CatalogError) { try require(parsedGuide, .guide) } }
    var diagram: Diagram { get throws(CatalogError) { try require(parsedDiagram, .diagram) } }
    var picture: Picture { get throws(CatalogError) { try require(parsedPicture, .picture) } }

    private func require<T>(_ value: T?, _ name: Name) throws(CatalogError) -> T {
        guard let value else { throw .fault("the path has no parameter {\(name.rawValue)}") }
        return value
    }
}
