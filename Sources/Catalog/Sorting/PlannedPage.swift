/// A page request planned from a basis.
package struct PlannedPage: Sendable {
    package let basis: PageBasis
    package let plan: PagePlan

    package init(_ basis: PageBasis, _ plan: PagePlan) {
        self.basis = basis
        self.plan = plan
    }

    /// - Throws: as `PageRequest.plan`.
    package init(_ request: PageRequest, _ basis: PageBasis) throws(CatalogError) {
        self.init(basis, try request.plan(for: basis.head, remembering: basis.views, of: basis.union))
    }

    /// The entity tag of the page.
    ///
    /// - Parameter day: the UTC day to which popularity is scaled.
    package func entityTag(day: Int) -> String { plan.entityTag(basis.head, day: day) }
}
