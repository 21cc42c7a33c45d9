import Catalog
import HTTPTypes
import Hummingbird
import InMemoryCatalog
import NIOCore
import Platform
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// Pages of several shelves, which may take long to read.
@Suite(.timeLimit(.minutes(15))) struct UnionPageTests {
    /// A store that reads unions until it is cancelled, and records whether it runs for an event loop.
    private final class SlowStore: PageStore {
        private let catalog: InMemoryCatalog
        let runsForEventLoop = Mutex<[Bool]>([])

        init(_ catalog: InMemoryCatalog) { self.catalog = catalog }

        func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
            runsForEventLoop.withLock { $0.append(CurrentEventLoop.value != nil) }
            do { try await Task.sleep(for: .seconds(600)) } catch { throw .unavailable }
            return try await catalog.currentUnion(request)
        }

        func read(
            _ request: PageRequest,
            unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
        ) async throws(CatalogError) -> ShelfRead {
            try await catalog.read(request, unless: isAnswered)
        }
    }

    @Test(
        "A union is read on no event loop, and only until its client disconnects, whatever asks for it",
        arguments: [nil, "include=descendants"] as [String?]
    )
    func unionsLeaveEventLoops(query: String?) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        let (key, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        _ = try await catalog.put(Store(key: key, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: shelf, title: "X", includesDescendants: true), in: key)
        let store = SlowStore(catalog)
        let pages = PageEndpoints(
            store: store,
            cursors: DeploymentKey(Array("test".utf8)).cursors,
            observer: .none,
            cache: PageCache(limit: 0),
            fragments: CatalogAPI.Options().products
        )
        let path = "/v1/stores/s/shelves/x/products"
        let target = try RequestTarget(path: path, query: query)
        let (resource, parameters) = try #require(EndpointTable(pages.endpoints).match(target.segments))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        let call = Call(
            endpoint: pages.endpoints[0],
            request: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
            route: EndpointTable.Route(target: target, resource: resource, parameters: parameters),
            caller: nil,
            bodyLoader: BodyLoader(limit: 0, timeout: .seconds(1)),
            peer: nil,
            trustedProxies: CatalogAPI.Options().trustedProxies,
            bodyLength: 0,
            deadlines: DeadlineWatch(),
            isAbandoned: { true }
        )
        let loop = CurrentEventLoop(number: 0, executor: BackgroundExecutor.shared)
        await TaskContext(eventLoop: loop).run { () async -> Void in
            await #expect(throws: CatalogError.unavailable) { _ = try await pages.page(call, of: shelf) }
        }
        let runsForEventLoop = store.runsForEventLoop.withLock { $0 }
        #expect(runsForEventLoop == [false])
    }
}
