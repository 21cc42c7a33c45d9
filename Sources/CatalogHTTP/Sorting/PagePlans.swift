internal import Catalog
internal import Synchronization

/// The page request of a target and its last plans, which are computed once.
final class PagePlans: Sendable {
    /// The request without a user.
    private let request: PageRequest
    private let variant: PageCache.Variant
    /// The last plan for each sort that users remember, and for everyone.
    private let last = Mutex<[RememberedSorts: TaggedPlan]>([:])

    /// The maximum number of plans.
    private static let planLimit = 4

    init(_ request: PageRequest, path: String) {
        self.request = request
        variant = PageCache.Variant(
            path: path,
            includesDescendants: request.includesDescendants == true,
            namesSort: request.sort != nil,
            namesFilter: request.filter != nil,
            namesSearch: request.search != nil,
            collapsesGroups: request.collapsesGroups,
            namesMembers: request.wantsMembers
        )
    }

    /// Returns the request of a user, whose remembered sorts apply if the target names no sort and no search.
    func request(by user: UserID?) -> PageRequest {
        var request = self.request
        if request.requested.isDefault { request.user = user }
        return request
    }

    /// Returns the plan of the request for a basis.
    ///
    /// - Throws: as `PageRequest.plan`.
    func plan(_ request: PageRequest, _ basis: PageBasis, day: Int) throws(CatalogError) -> TaggedPlan {
        if let known = last.withLock({ $0[basis.sorts] }), known.isCurrent(basis, day: day) { return known }
        let planned = try PlannedPage(request, basis)
        let plan = TaggedPlan(planned, day: day, key: PageCache.Key(variant, planned.plan))
        // A remembered filter may be long.
        if let sort = basis.sorts.effective, !sort.filter.isEmpty { return plan }
        last.withLock { last in
            if last.count >= Self.planLimit { last = [:] }
            last[basis.sorts] = plan
        }
        return plan
    }
}

/// A plan with its entity tag and its key in the cache.
final class TaggedPlan: Sendable {
    let plan: PagePlan
    let tag: String
    let key: PageCache.Key
    private let day: Int
    private let version: ShelfVersion

    init(_ planned: PlannedPage, day: Int, key: PageCache.Key) {
        let head = planned.basis.head
        plan = planned.plan
        tag = planned.entityTag(day: day)
        self.key = key
        self.day = day
        version = ShelfVersion(head)
    }

    /// Whether a basis with the same sorts has this plan and tag. The versions cover everything else that they depend on.
    func isCurrent(_ basis: PageBasis, day: Int) -> Bool {
        self.day == day && version == ShelfVersion(basis.head)
            && plan.keyGeneration == basis.head.state.keyGeneration && plan.union == basis.union
    }
}
