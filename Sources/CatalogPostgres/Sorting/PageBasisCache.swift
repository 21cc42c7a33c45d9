internal import Catalog
internal import Synchronization

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

    private struct State {
        var heads = RecentDictionary<ShelfAddress, ShelfHead>(limit: entryLimit)
        var views = RecentDictionary<View, UserState>(limit: viewLimit)
        var statements = RecentDictionary<PageStatement.Shape, PageStatement>(limit: entryLimit)
        var facetStatements = RecentDictionary<FacetStatement.Shape, FacetStatement>(limit: entryLimit)
    }

    private let state = Mutex(State())

    func basis(of request: PageRequest) -> PageBasis? {
        let address = ShelfAddress(request.store, request.shelf)
        return state.withLock { state in
            guard let head = state.heads[address] else { return nil }
            guard let user = request.user, request.after == nil else { return PageBasis(head: head) }
            return state.views[View(address: address, user: user)].map {
                PageBasis(head: head, views: $0.views, revision: $0.revision)
            }
        }
    }

    func insert(_ basis: PageBasis, of request: PageRequest) {
        let address = ShelfAddress(request.store, request.shelf)
        state.withLock { state in
            state.heads[address] = basis.head
            guard let user = request.user, request.after == nil else { return }
            state.views[View(address: address, user: user)] = UserState(views: basis.views, revision: basis.revision)
        }
    }

    /// Inserts only the shelf and its store.
    func insert(_ head: ShelfHead, of request: PageRequest) {
        state.withLock { $0.heads[ShelfAddress(request.store, request.shelf)] = head }
    }

    func statement(_ shape: PageStatement.Shape) -> PageStatement {
        state.withLock { Self.statement(shape, in: &$0.statements, PageStatement.init) }
    }

    func statement(_ shape: FacetStatement.Shape) -> FacetStatement {
        state.withLock { Self.statement(shape, in: &$0.facetStatements, FacetStatement.init) }
    }

    private static func statement<Shape: Hashable, Statement>(
        _ shape: Shape,
        in statements: inout RecentDictionary<Shape, Statement>,
        _ make: (Shape) -> Statement
    ) -> Statement {
        if let statement = statements[shape] { return statement }
        let statement = make(shape)
        statements[shape] = statement
        return statement
    }
}
