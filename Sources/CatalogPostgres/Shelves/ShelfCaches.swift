package import Catalog
internal import Shelves
internal import Synchronization

/// The shelves and unions that this server keeps in memory, with their views, facets, columns of attributes and of groups, and search
/// indexes. They share one part of the memory.
final class ShelfCaches: Sendable {
    /// The key of a table, with which its views, facets, columns and index are kept.
    enum TableKey: Hashable, Sendable {
        case shelf(ShelfLocation)
        case union(ShelfUnions.Key)

        var storeID: Int32 {
            switch self {
            case .shelf(let location): location.storeID
            case .union(let union): union.storeID
            }
        }
    }

    /// The key of a view, of facets or of a column: they belong to one version of a table.
    struct ResultKey<Request: Hashable & Sendable>: Hashable, Sendable {
        let table: TableKey
        let version: Int64
        let request: Request

        /// The key of the same at another version.
        func at(_ version: Int64) -> ResultKey { ResultKey(table: table, version: version, request: request) }
    }

    enum ColumnRequest: Hashable, Sendable {
        /// An attribute, with the language by whose rules texts are ordered.
        case attribute(ResolvedAttribute, language: String)
        case groups
    }

    /// A column that is read from the products when a request needs it.
    enum Column: Sendable {
        case attribute(AttributeColumn)
        case groups(GroupColumn)

        /// The size in memory, in bytes.
        var size: Int {
            switch self {
            case .attribute(let column): column.size
            case .groups(let column): column.size
            }
        }
    }

    struct FacetRequest: Hashable, Sendable {
        let facets: Set<Facet>
        let filter: Filter
        let currency: Currency
        /// Whether groups are counted in place of products.
        let countsGroups: Bool
        /// The matches of a search, which alone are counted.
        let matches: MatchesKey?
    }

    /// The key of the matches of a search. The index belongs to one table, and versions of the table may share it.
    struct MatchesKey: Hashable, Sendable {
        /// The number of the index.
        let index: Int
        let rules: SearchIndexes.RulesState
        let text: SearchText
        /// The worst class in use; nil for the best classes that find enough.
        let limit: SearchClass?
    }

    /// An order, optionally of the matches of a search.
    struct OrderKey: Hashable, Sendable {
        let view: ViewRequest
        let matches: MatchesKey?
    }

    typealias Results<Request: Hashable & Sendable, Value: Sendable> = SharedCache<ResultKey<Request>, Value>

    let shelves: TableCache<ShelfLocation, KeptShelf>
    let unions: TableCache<ShelfUnions.Key, ShelfUnions.LoadedUnion>
    let views: Results<OrderKey, TableView>
    let facets: Results<FacetRequest, Facets>
    let indexes: TableCache<TableKey, SearchIndexes.KeptIndex>
    let rules: TableCache<SearchIndexes.RulesKey, SearchIndexes.KeptRules>
    let matches: SharedCache<MatchesKey, SearchMatches>
    /// The columns of attributes and of groups.
    let columns: TableCache<ResultKey<ColumnRequest>, Column>
    /// The memory of all columns, of which views may keep some that `columns` has evicted.
    let columnMemory = CountedMemory.Total()
    private let shares: ShelfMemoryShares
    private let fit = Mutex(())
    /// The number of tables that had been evicted when the indexes without tables were dropped.
    private let evictions = Mutex(0)
    /// The usual size of the keys of a sort, in bytes.
    private static let sortSize = 64

    init(_ shares: ShelfMemoryShares) {
        self.shares = shares
        shelves = TableCache(limit: shares.shelvesLimit, largest: shares.shelves / 2) { $0.shelf.size }
        unions = TableCache(limit: shares.unions, largest: shares.unions / 2) { $0.size }
        views = Results(limit: shares.views, largest: shares.views / 4) {
            Results<OrderKey, TableView>.entryOverhead + Self.sortSize + $0.request.size + $1.size
        }
        facets = Results(limit: shares.facets, largest: shares.facets / 4) {
            Results<FacetRequest, Facets>.entryOverhead + $0.request.size + $1.size
        }
        indexes = TableCache(limit: shares.indexes / 8 * 5, largest: shares.indexes / 16 * 5) { $0.size }
        rules = TableCache(limit: shares.indexes / 4, largest: shares.indexes / 8) { $0.size }
        matches = SharedCache(limit: max(2, shares.indexes / 8), largest: max(1, shares.indexes / 32)) {
            SharedCache<MatchesKey, SearchMatches>.entryOverhead + $0.size + $1.sizeOfArrays
        }
        columns = TableCache(limit: shares.columns, largest: shares.columns / 2) {
            Results<ColumnRequest, Column>.entryOverhead + $0.size
        }
    }

    /// The use of the memory, without hits and rendered products.
    var use: ShelfMemoryUse {
        var use = ShelfMemoryUse(
            limit: shares.limit,
            shelves: shelves.use,
            unions: unions.use,
            views: views.use,
            facets: facets.use,
            columns: columns.use
        )
        use.indexes = indexes.use + rules.use + matches.use
        use.columns.size += columnsOfViews
        return use
    }

    /// The size of the columns that only views keep, in bytes.
    private var columnsOfViews: Int { max(0, columnMemory.size - columns.use.size) }

    // MARK: - Tables

    /// Keeps a shelf in place of its other version.
    func insert(_ shelf: KeptShelf, for location: ShelfLocation) {
        shelves.insert(shelf, for: location)
        fitShelves()
        adjustIndex(.shelf(location))
    }

    /// Keeps a union in place of its other version.
    func insert(_ union: ShelfUnions.LoadedUnion, for key: ShelfUnions.Key) {
        unions.insert(union, for: key)
        fitShelves()
        adjustIndex(.union(key))
    }

    /// Returns the version of a table that is in memory; nil if it is not. It does not count as use.
    func version(of key: TableKey) -> Int64? {
        switch key {
        case .shelf(let location): shelves.peek(location)?.shelf.version
        case .union(let key): unions.peek(key)?.shelf.version
        }
    }

    // MARK: - Indexes

    /// Keeps the index of a table in memory.
    func insert(_ index: SearchIndexes.KeptIndex, for key: TableKey) {
        indexes.insert(index, for: key)
        fitShelves()
        adjustIndex(key)
    }

    func insert(_ kept: SearchIndexes.KeptRules, for key: SearchIndexes.RulesKey) {
        rules.insert(kept, for: key)
        fitShelves()
    }

    /// Drops an index without its table. An index keeps its table for comparisons, which counts once memory has another version.
    private func adjustIndex(_ key: TableKey) {
        guard let kept = indexes.peek(key) else { return }
        guard let version = version(of: key) else { return indexes.remove(key) }
        let ownsTable = version != kept.version
        guard kept.ownsTable != ownsTable else { return }
        indexes.insert(kept.owningTable(ownsTable), for: key)
        fitShelves()
    }

    /// Limits the shelves to what the other kinds leave of the memory, and drops the indexes of evicted tables.
    func fitShelves() {
        fit.withLock { _ in
            // Columns leave the memory with the views that keep them.
            views.limit = max(shares.views / 2, shares.views - columnsOfViews)
            shelves.limit =
                shares.shelvesLimit - views.use.size - facets.use.size - columns.limitedSize - columnsOfViews
                - unions.limitedSize - indexes.limitedSize - rules.limitedSize - matches.use.size
        }
        let current = shelves.use.evictions + unions.use.evictions
        let isEvicted = evictions.withLock { known in
            defer { known = current }
            return known != current
        }
        if isEvicted { for entry in indexes.entries { adjustIndex(entry.key) } }
    }

    /// Whether less than half of the memory for shelves is used.
    var isHalfEmpty: Bool { shelves.limitedSize < shelves.limit / 2 }

    /// Returns the shelves that requests have used since the last call.
    func takeUsed() -> [ShelfLocation] { shelves.entries.filter { $0.value.takeUse() }.map(\.key) }
}

// Approximate sizes in memory, in bytes.

extension ShelfCaches.MatchesKey {
    fileprivate var size: Int { rules.locale.utf8.count + text.text.utf8.count }
}

extension ShelfCaches.OrderKey {
    fileprivate var size: Int { view.filter.size + (matches?.size ?? 0) }
}

extension ShelfCaches.FacetRequest {
    fileprivate var size: Int { filter.size + (matches?.size ?? 0) }
}

extension Filter {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int { 4 * query.utf8.count }
}

extension Facets {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int {
        let texts = (brands + tags).reduce(0) { $0 + 48 + $1.value.utf8.count }
        let attributes = attributes.reduce(0) { $0 + $1.size }
        return 256 + texts + prices.count * MemoryLayout<PriceCount>.stride + attributes
    }
}

extension AttributeFacet {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int {
        switch counts {
        case .values(let values): values.reduce(256) { $0 + 48 + $1.value.utf8.count }
        case .range: 1024
        }
    }
}

/// How the memory for shelves is divided.
package struct ShelfMemoryShares: Sendable, Hashable {
    /// The size of everything but one large shelf, union, index and column, in bytes.
    package let limit: Int

    package init(limit: Int) { self.limit = limit }

    /// The share of shelves, which also get what the other kinds leave of theirs.
    var shelves: Int { limit / 16 * 7 }
    /// The limit for shelves while the other caches are empty.
    var shelvesLimit: Int { limit - products }
    var unions: Int { limit / 8 }
    var views: Int { limit / 8 }
    /// The share of columns of attributes and of groups.
    var columns: Int { limit / 16 }
    var facets: Int { limit / 32 }
    /// The share of search indexes, of the rules of searches, and of their matches.
    var indexes: Int { limit / 16 }
    /// The share of rendered products, which the API keeps.
    package var products: Int { limit / 32 * 5 }
}

/// The use of the memory for shelves.
package struct ShelfMemoryUse: Sendable, Hashable {
    /// The limit of everything but one large shelf, union, index and column, in bytes.
    package var limit: Int
    /// The shelves, with the large one.
    package var shelves: CacheUse
    /// Shelves with those below them, and all shelves of stores, in tables of their own.
    package var unions: CacheUse
    package var views: CacheUse
    package var facets: CacheUse
    /// Search indexes, the rules of searches, and their matches.
    package var indexes = CacheUse()
    /// Columns of attributes and of groups.
    package var columns = CacheUse()
    /// Rendered products, which the API keeps.
    package var products = CacheUse()
    /// The number of reads that found their shelf at the required version.
    package var hits = 0

    /// The kinds by the names that metrics have for them. `attributes` has the columns of groups, too.
    package var kinds: [(name: String, use: CacheUse)] {
        [
            ("shelves", shelves), ("unions", unions), ("views", views), ("facets", facets), ("attributes", columns),
            ("indexes", indexes),
            ("products", products),
        ]
    }

    /// The size of everything, in bytes.
    package var bytes: Int { kinds.reduce(0) { $0 + $1.use.size } }
}

extension CacheUse {
    fileprivate static func + (a: CacheUse, b: CacheUse) -> CacheUse {
        var sum = a
        sum.count += b.count
        sum.size += b.size
        sum.evictions += b.evictions
        return sum
    }
}
