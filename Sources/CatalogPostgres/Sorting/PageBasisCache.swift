internal import Catalog

/// A cache of page bases from the last reads, and of statements. An entry is only a guess, which every read confirms, so
/// outdated entries do no harm.
final class PageBasisCache: Sendable {
    private struct View: Hashable {
        let address: ShelfAddress
        let user: UserID
    }

    /// The maximum number of shelves, and of statements of each kind.
    private static let entryLimit = 4096
    /// The maximum number of users' views.
    private static let viewLimit = 32_768

    /// The bases of pages for everyone.
    private let shelves = SharedCache<ShelfAddress, PageBasis>(limit: entryLimit)
    private let views = SharedCache<View, PageBasis>(limit: viewLimit)
    private let statements = SharedCache<PageStatement.Shape, PageStatement>(limit: entryLimit)
    private let probeStatements = SharedCache<ProbeStatement.Shape, ProbeStatement>(limit: entryLimit)
    private let facetStatements = SharedCache<FacetStatement.Shape, FacetStatement>(limit: entryLimit)

    func basis(of request: PageRequest) -> PageBasis? {
        let address = ShelfAddress(request.store, request.shelf)
        guard let shelf = shelves[address] else { return nil }
        guard let user = request.user, request.after == nil else { return shelf }
        let view = View(address: address, user: user)
        guard let known = views[view] else { return nil }
        if ShelfVersion(known.head) == ShelfVersion(shelf.head), known.head.location == shelf.head.location {
            return known
        }
        let basis = PageBasis(head: shelf.head, views: known.views, revision: known.revision)
        views[view] = basis
        return basis
    }

    func insert(_ basis: PageBasis, of request: PageRequest) {
        insert(basis.head, of: request)
        guard let user = request.user, request.after == nil else { return }
        views[View(address: ShelfAddress(request.store, request.shelf), user: user)] = basis
    }

    /// Inserts only the shelf and its store.
    func insert(_ head: ShelfHead, of request: PageRequest) {
        shelves[ShelfAddress(request.store, request.shelf)] = PageBasis(head: head)
    }

    func statement(_ shape: PageStatement.Shape) -> PageStatement {
        Self.statement(shape, in: statements, PageStatement.init)
    }

    func statement(_ shape: FacetStatement.Shape) -> FacetStatement {
        Self.statement(shape, in: facetStatements, FacetStatement.init)
    }

    func statement(_ shape: ProbeStatement.Shape) -> ProbeStatement {
        Self.statement(shape, in: probeStatements, ProbeStatement.init)
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
