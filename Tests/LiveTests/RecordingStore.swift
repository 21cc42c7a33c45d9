import Catalog
import Synchronization

/// A store of versions that answers as a test says, and records how it is asked.
final class RecordingStore: PageStore, VersionStore {
    struct Call: Equatable {
        var since: Int64
        var limit: Int
    }

    private struct State {
        var revisions: [UserID: Int64] = [:]
        var pages: [ChangesPage] = []
        var calls: [Call] = []
        var askedUsers: [[UserID]] = []
        var askedShelves: [[ShelfAddress]] = []
    }

    private let state = Mutex(State())
    private let catalog: (any PageStore & VersionStore)?

    /// - Parameter catalog: answers what concerns shelves.
    init(_ catalog: (any PageStore & VersionStore)? = nil) { self.catalog = catalog }

    func set(_ revision: Int64?, of user: UserID) { state.withLock { $0.revisions[user] = revision } }
    /// Adds the answer of the next call for changes. Without one, the store is unavailable.
    func add(_ page: ChangesPage) { state.withLock { $0.pages.append(page) } }

    var calls: [Call] { state.withLock { $0.calls } }
    /// The users and shelves of each call, and none of earlier ones.
    func takeAsked() -> (users: [[UserID]], shelves: [[ShelfAddress]]) {
        state.withLock { state -> (users: [[UserID]], shelves: [[ShelfAddress]]) in
            defer { (state.askedUsers, state.askedShelves) = ([], []) }
            return (state.askedUsers, state.askedShelves)
        }
    }

    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64] {
        state.withLock { state -> [UserID: Int64] in
            state.askedUsers.append(users)
            return state.revisions.filter { users.contains($0.key) }
        }
    }

    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage {
        let page = state.withLock { state -> ChangesPage? in
            state.calls.append(Call(since: since, limit: limit))
            return state.pages.isEmpty ? nil : state.pages.removeFirst()
        }
        guard let page else { throw .unavailable }
        return page
    }

    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?] {
        state.withLock { $0.askedShelves.append(shelves) }
        guard let catalog else { throw .unavailable }
        return try await catalog.versions(of: shelves)
    }

    func read(
        _ request: PageRequest,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws(CatalogError) -> ShelfRead {
        guard let catalog else { throw .unavailable }
        return try await catalog.read(request, unless: isAnswered)
    }

    func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        guard let catalog else { throw .unavailable }
        return try await catalog.currentUnion(request)
    }
}

extension LiveEvent {
    /// Returns events with consecutive ids.
    static func many(_ ids: ClosedRange<Int64>, bytes: Int = 1) -> [LiveEvent] {
        ids.map { LiveEvent(.setting, id: $0, data: [UInt8](repeating: 65, count: bytes)) }
    }
}
