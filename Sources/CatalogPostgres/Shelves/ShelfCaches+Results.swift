internal import Catalog
internal import Collation
internal import Shelves

/// Views, facets, and columns of attributes and groups, which are computed once for each version of a table.
extension ShelfCaches {
    /// The number of products from which a table is sorted, filtered and counted on another thread than the event loop's.
    private static let offLoopProducts = 2000
    /// The same for a shelf or a view that follows a few changes, which takes a fraction of the time.
    static let offLoopFollowedProducts = 10_000

    /// Returns a view of a shelf.
    func view(
        _ plan: PagePlan,
        of shelf: ShelfSnapshot,
        at key: TableKey
    ) async -> TableView {
        let order = OrderKey(view: ViewRequest(plan), matches: nil)
        let result = ResultKey(table: key, version: shelf.version, request: order)
        if let known = views[result] { return known }
        var limit = isFollowed(result, of: shelf) ? followedLimit(plan, of: shelf, at: key) : Self.limit(plan)
        // Collapsing groups takes a pass over all rows, and the groups may have to be read.
        if result.request.view.collapsesGroups { limit = min(limit, Self.offLoopProducts) }
        return await offLoop(if: shelf.table.count >= limit) {
            self.view(plan, result, nil, of: shelf)
        }
    }

    /// Whether a view follows from one in memory.
    private func isFollowed(_ result: ResultKey<OrderKey>, of shelf: ShelfSnapshot) -> Bool {
        func isKnown(_ key: ResultKey<OrderKey>) -> Bool { views.peek(key) != nil }
        let all = result.request.view.expanded
        let sources = result.request.view.collapsesGroups ? [all, all.natural] : [all]
        return sources.allSatisfy { source in
            let key = result.with(source)
            return isKnown(key) || shelf.steps.contains { isKnown(key.at($0.version)) }
        }
    }

    /// The same on the current thread, which is not an event loop's.
    ///
    /// - Parameter search: what a search of the plan needs; nil for a plan without one.
    func viewNow(
        _ plan: PagePlan,
        of shelf: ShelfSnapshot,
        at key: TableKey,
        _ search: LoadedSearch? = nil
    ) -> TableView {
        let found = search?.matches(plan)
        let order = OrderKey(view: ViewRequest(plan), matches: found?.key)
        let result = ResultKey(table: key, version: shelf.version, request: order)
        return view(plan, result, found?.matches, of: shelf)
    }

    private func view(
        _ plan: PagePlan,
        _ result: ResultKey<OrderKey>,
        _ matches: SearchMatches?,
        of shelf: ShelfSnapshot
    ) -> TableView {
        if let known = views[result] { return known }
        let view =
            result.request.view.collapsesGroups
            ? collapsedView(plan, result, matches, of: shelf) : sortedView(plan, result, matches, of: shelf)
        views[result] = view
        fitShelves()
        return view
    }

    private func sortedView(
        _ plan: PagePlan,
        _ result: ResultKey<OrderKey>,
        _ matches: SearchMatches?,
        of shelf: ShelfSnapshot
    ) -> TableView {
        let table = table(with: plan.resolvedSort.attributes, plan.language, of: shelf, at: result.table)
        return earlierView(result, of: shelf, table) ?? table.view(result.request.view, matches)
    }

    /// Returns a view with one row for each group, from the views with all rows. An earlier one leaves the memory.
    private func collapsedView(
        _ plan: PagePlan,
        _ result: ResultKey<OrderKey>,
        _ matches: SearchMatches?,
        of shelf: ShelfSnapshot
    ) -> TableView {
        let request = result.request.view.expanded
        let all = view(plan, result.with(request), matches, of: shelf)
        // Most sorts have their natural direction. Their view need not stay in memory to be used twice.
        let natural =
            request.natural == request ? all : view(plan, result.with(request.natural), matches, of: shelf)
        for step in shelf.steps { views[result.at(step.version)] = nil }
        return shelf.table.with(groups(of: shelf, at: result.table)).collapsed(all, natural)
    }

    /// Returns a view from that of an earlier version, which leaves the memory; nil if there is none, or if too many rows have changed. That
    /// of a search has the same matches, because its key has the number of the index.
    ///
    /// - Parameter table: that of the shelf, with columns of attributes.
    private func earlierView(
        _ key: ResultKey<OrderKey>,
        of shelf: ShelfSnapshot,
        _ table: ShelfTable
    ) -> TableView? {
        guard let (view, version, changed) = Self.earlier(of: shelf, { views[key.at($0)] }) else { return nil }
        views[key.at(version)] = nil
        return table.view(view, changed: changed)
    }

    /// Returns a result of the latest earlier version of a shelf, with that version and the rows that have changed since.
    ///
    /// - Parameter known: returns the result of a version; nil if it is not in memory.
    /// - Returns: nil without such a version.
    private static func earlier<Value>(
        of shelf: ShelfSnapshot,
        _ known: (Int64) -> Value?
    ) -> (Value, version: Int64, changed: [UInt32])? {
        var changed: Set<UInt32> = []
        for step in shelf.steps {
            changed.formUnion(step.rows)
            if let found = known(step.version) { return (found, step.version, Array(changed)) }
        }
        return nil
    }

    // MARK: - Attributes

    /// The number of products from which columns of attributes are read on another thread than the event loop's.
    private static let offLoopAttributeProducts = 500

    private static func limit(_ plan: PagePlan) -> Int {
        plan.attributes.isEmpty ? offLoopProducts : offLoopAttributeProducts
    }

    /// The limit for a view that follows a few changes. Its columns may have been evicted, and those with texts take longer to follow.
    private func followedLimit(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) -> Int {
        let attributes = plan.resolvedSort.attributes.withColumns
        if attributes.isEmpty { return Self.offLoopFollowedProducts }
        return attributes.allSatisfy { isFollowed($0, plan.language, of: shelf, at: key) }
            ? Self.offLoopProducts : Self.offLoopAttributeProducts
    }

    /// Whether the column of an attribute is in memory, or that of an earlier version which it can follow.
    func isFollowed(
        _ attribute: ResolvedAttribute,
        _ language: String,
        of shelf: ShelfSnapshot,
        at key: TableKey
    ) -> Bool {
        let request = ColumnRequest.attribute(attribute, language: language)
        let result = ResultKey(table: key, version: shelf.version, request: request)
        return columns.peek(result) != nil || shelf.steps.contains { columns.peek(result.at($0.version)) != nil }
    }

    /// Returns the table of a shelf with the columns of attributes.
    private func table(
        with attributes: [ResolvedAttribute],
        _ language: String,
        of shelf: ShelfSnapshot,
        at key: TableKey
    ) -> ShelfTable {
        shelf.table.with(attributes.withColumns.map { column($0, language, of: shelf, at: key) })
    }

    /// Returns the column of an attribute. An earlier version's column follows a few changes; otherwise the products are read.
    private func column(
        _ attribute: ResolvedAttribute,
        _ language: String,
        of shelf: ShelfSnapshot,
        at key: TableKey
    ) -> AttributeColumn {
        let request = ColumnRequest.attribute(attribute, language: language)
        let result = ResultKey(table: key, version: shelf.version, request: request)
        if case .attribute(let known) = columns[result] { return known }
        let collator = LanguageCollator.of(language)
        var column =
            earlierColumn(result, of: shelf, collator) ?? shelf.table.column(of: attribute, key: collator.key)
        column.counted = CountedMemory(column.size, in: columnMemory)
        columns.insert(.attribute(column), for: result)
        return column
    }

    /// Returns the groups of a shelf's products. An earlier version's groups follow a few changes; otherwise the products are read.
    private func groups(of shelf: ShelfSnapshot, at key: TableKey) -> GroupColumn {
        let result = ResultKey(table: key, version: shelf.version, request: ColumnRequest.groups)
        if case .groups(let known) = columns[result] { return known }
        var column: GroupColumn
        if case (.groups(let earlier), let version, let changed)? = Self.earlier(of: shelf, { columns[result.at($0)] })
        {
            columns.remove(result.at(version))
            column = shelf.table.groupColumn(earlier, changed: changed)
        } else {
            column = shelf.table.groupColumn()
        }
        column.counted = CountedMemory(column.size, in: columnMemory)
        columns.insert(.groups(column), for: result)
        return column
    }

    /// Returns a column from that of an earlier version, which leaves the memory; nil if there is none, or if too many rows have changed.
    private func earlierColumn(
        _ key: ResultKey<ColumnRequest>,
        of shelf: ShelfSnapshot,
        _ collator: LanguageCollator
    ) -> AttributeColumn? {
        guard
            case (.attribute(let column), let version, let changed)? = Self.earlier(of: shelf, { columns[key.at($0)] })
        else { return nil }
        columns.remove(key.at(version))
        return shelf.table.column(column, changed: changed, key: collator.key)
    }

    /// Returns the facets of a page without a search.
    func facets(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) async -> Facets {
        let result = ResultKey(table: key, version: shelf.version, request: FacetRequest(plan))
        if let known = facets[result] { return known }
        return await offLoop(if: shelf.table.count >= Self.limit(plan)) { self.facetsNow(plan, of: shelf, at: key) }
    }

    /// Returns the facets of a page on the current thread, which is not an event loop's.
    ///
    /// - Parameter search: what a search of the plan needs; nil for a plan without one.
    func facetsNow(
        _ plan: PagePlan,
        of shelf: ShelfSnapshot,
        at key: TableKey,
        _ search: LoadedSearch? = nil
    ) -> Facets {
        let found = search?.matches(plan)
        let request = FacetRequest(plan, found?.key)
        let result = ResultKey(table: key, version: shelf.version, request: request)
        if let known = facets[result] { return known }
        let attributes = request.filter.attributes + request.facets.compactMap(\.attribute)
        let table = table(with: attributes, plan.language, of: shelf, at: key)
            .with(request.countsGroups ? groups(of: shelf, at: key) : nil)
        let counted = table.facets(
            request.facets,
            request.filter,
            in: request.currency,
            of: found?.matches,
            countsGroups: request.countsGroups
        )
        facets[result] = counted
        fitShelves()
        return counted
    }
}

/// Returns the result of work, which is done on another thread than the event loop's if it takes long.
func offLoop<Value: Sendable>(if isLong: Bool, _ work: @escaping @Sendable () -> Value) async -> Value {
    guard isLong else { return work() }
    return await Task(executorPreference: globalConcurrentExecutor) { work() }.value
}

extension ShelfTable {
    /// Returns the ids of the products in the order of a sort.
    ///
    /// - Parameters:
    ///   - sort: a sort whose attributes were looked up.
    ///   - head: the shelf's and the store's settings, which affect the order.
    func ids(by sort: Sort, of head: ShelfHead) -> [String] {
        let key = LanguageCollator.of(head.store.language).key
        let table = with(sort.attributes.withColumns.map { column(of: $0, key: key) })
        let request = ViewRequest(
            sort: sort,
            dimension: head.state.comparisonDimension,
            sortsSoldOutLast: head.sortsSoldOutLast,
            currency: head.store.currency
        )
        return table.view(request).rows.map { sku(Int($0)).text }
    }
}

extension [ResolvedAttribute] {
    /// The attributes that have columns: the numbers of ratios in place of the ratios, each once.
    fileprivate var withColumns: [ResolvedAttribute] {
        if isEmpty { return [] }
        let all = flatMap { attribute in
            if case .ratio = attribute.form { attribute.operands } else { [attribute] }
        }
        return Array(Set(all))
    }
}

extension ShelfCaches.OrderKey {
    init(_ plan: PagePlan, _ matches: ShelfCaches.MatchesKey? = nil) {
        self.init(view: ViewRequest(plan), matches: matches)
    }
}

extension ShelfCaches.FacetRequest {
    init(_ plan: PagePlan, _ matches: ShelfCaches.MatchesKey? = nil) {
        self.init(
            facets: plan.facets,
            filter: plan.resolvedSort.filter,
            currency: plan.currency,
            countsGroups: plan.collapsesGroups,
            matches: matches
        )
    }
}

extension ShelfCaches.ResultKey<ShelfCaches.OrderKey> {
    /// The key of another view of the same products at the same version.
    fileprivate func with(_ view: ViewRequest) -> Self {
        Self(table: table, version: version, request: .init(view: view, matches: request.matches))
    }
}

extension ViewRequest {
    init(_ plan: PagePlan) {
        self.init(
            sort: plan.sort,
            filter: plan.resolvedSort.filter,
            dimension: plan.dimension,
            sortsSoldOutLast: plan.sortsSoldOutLast,
            currency: plan.currency,
            collapsesGroups: plan.collapsesGroups
        )
    }
}
