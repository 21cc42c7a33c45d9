internal import Catalog

/// A cache of page bases from the last reads, and of statements. An entry is only a guess, which every read confirms, so
/// outdated entries do no harm.
final class PageBasisCache: Sendable {
    private struct View: Hashable {
        let address: ShelfAddress
        let user: UserID
    }

    private struct UserState {
        let views: RememberedViews
        let revision: Int64
    }

    /// The maximum number of heads, and of statements of each kind.
    private static let entryLimit = 4096
    /// The maximum number of users' views.
    private static let viewLimit = 32_768

    private let heads = SharedCache<ShelfAddress, ShelfHead>(limit: entryLimit)
    private let views = SharedCache<View, UserState>(limit: viewLimit)
    private let statements = SharedCache<PageStatement.Shape, PageStatement>(limit: entryLimit)
    private let facetStatements = SharedCache<FacetStatement.Shape, FacetStatement>(limit: entryLimit)

    func basis(of request: PageRequest) -> PageBasis? {
        let address = ShelfAddress(request.store, request.shelf)
        guard let head = heads[address] else { return nil }
        guard let user = request.user, request.after == nil else { return PageBasis(head: head) }
        return views[View(address: address, user: user)].map {
            PageBasis(head: head, views: $0.views, revision: $0.revision)
        }
    }

    func insert(_ basis: PageBasis, of request: PageRequest) {
        insert(basis.head, of: request)
        guard let user = request.user, request.after == nil else { return }
        let view = View(address: ShelfAddress(request.store, request.shelf), user: user)
        views[view] = UserState(views: basis.views, revision: basis.revision)
    }

    /// Inserts only the shelf and its store.
    func insert(_ head: ShelfHead, of request: PageRequest) {
        heads[ShelfAddress(request.store, request.shelf)] = head
    }

    func statement(_ shape: PageStatement.Shape) -> PageStatement {
        Self.statement(shape, in: statements, PageStatement.init)
    }

    func statement(_ shape: FacetStatement.Shape) -> FacetStatement {
        Self.statement(shape, in: facetStatements, FacetStatement.init)
    }

    private static func statement<Shape: Hashable, Statement>(
        _ shape: Shape,
        in statements: SharedCache<Shape, Statement>,
        _ make: (Shape) -> Statement
    ) -> Statement {
        if let statement = statements[shape] { return statement }
        let statement = make(shape)
        statements[shape] = statement
        return statement
    }
}
