internal import Catalog
internal import HummingbirdCore
internal import Synchronization

/// Admits requests or refuses them: the quota of points that each client has, and the resources that requests hold.
///
/// A client at a limit of its own gets 429, a request at a limit of all clients 503, both with Retry-After. Without a quota, there are no
/// limits per client.
struct Admission: Sendable {
    /// The requests that take much processor time, so that admitted requests are answered in time. Each sends its body, runs or waits for a
    /// thread.
    let costlyRequests: LimitedResource
    /// The bodies in flight.
    private let bodies: LimitedResource
    /// The bytes of the bodies in flight, counted as they arrive.
    let bodyBytes: LimitedResource
    /// The event streams of shelves. `LiveHub` limits those of users.
    let shelfStreams: LimitedResource
    /// The imports. Each holds a database connection while its body arrives; slow clients must not exhaust the pool.
    let imports: LimitedResource
    /// The 429 responses that are delayed.
    let delays = LimitedResource(total: 1000)
    private let quotas: RateLimiter?

    /// The maximum number of a client's bodies in flight.
    static let bodiesPerClient = 256
    /// The share of a resource that a client can have, and that all clients without a token can have together.
    private static let (clientShare, anonymousShare) = (8, 4)

    init(_ options: CatalogAPI.Options) {
        let limitsClients = options.rateLimit != nil
        quotas = options.rateLimit.map { RateLimiter($0, clock: options.clock) }
        costlyRequests = LimitedResource(
            total: options.costlyLimit,
            anonymous: limitsClients ? max(1, options.costlyLimit / Self.anonymousShare) : options.costlyLimit,
            perClient: limitsClients ? max(1, options.costlyLimit / Self.clientShare) : options.costlyLimit,
            refusal: "too many of your large requests are in progress; send fewer at the same time"
        )
        bodies = LimitedResource(
            perClient: limitsClients ? Self.bodiesPerClient : .max,
            refusal:
                "a client can send at most \(Self.bodiesPerClient) bodies at the same time; wait until one has completed"
        )
        let bytesPerClient = options.bodyMemoryLimit / Self.clientShare
        bodyBytes = LimitedResource(
            total: options.bodyMemoryLimit,
            anonymous: options.bodyMemoryLimit / Self.anonymousShare,
            perClient: limitsClients ? bytesPerClient : .max,
            refusal:
                "the bodies that a client sends at the same time can have at most \(bytesPerClient) bytes in total; wait until one has completed"
        )
        shelfStreams = LimitedResource(
            perClient: limitsClients ? options.streamsPerClientLimit : .max,
            refusal: "a client can have at most \(options.streamsPerClientLimit) event streams; close unused ones"
        )
        imports = LimitedResource(
            total: options.concurrentImportLimit,
            perClient: limitsClients ? options.importsPerClientLimit : .max,
            refusal: "too many of your imports are in progress; wait until one of them has ended"
        )
    }

    /// Charges a request to a client. The points and the client are evaluated only if requests are limited.
    ///
    /// - Parameter quota: set to the client's remaining quota, even if the request is refused.
    /// - Throws: `Problem`, 429.
    func charge(
        _ points: @autoclosure () -> Int,
        to client: @autoclosure () -> Client,
        _ endpoint: Endpoint,
        _ quota: inout RateLimiter.Quota?
    ) throws(Problem) {
        // Probes, web pages and the OpenAPI document are free.
        guard let quotas, endpoint.isCharged else { return }
        try quotas.charge(points(), to: client(), &quota)
    }

    /// Charges a client for the work that was done and the length of the response, which are known only now.
    func settle(_ response: Response, _ call: Call, _ quota: inout RateLimiter.Quota?) {
        let points =
            call.work.points
            + Endpoint.points(rows: call.work.rows, responseLength: response.body.contentLength ?? 0)
        guard points > 0, let quotas, call.endpoint.isCharged else { return }
        quotas.settle(points, with: call.client, &quota)
    }

    /// Returns the permit for a body, which takes memory as its bytes arrive.
    ///
    /// - Throws: `tooMany` if the client has too many.
    func body(for client: Client) throws(CatalogError) -> BodyPermit {
        try BodyPermit(slot: bodies.permit(for: client), bytes: bodyBytes.permit(0, for: client))
    }
}

/// The permit for a body in flight and its bytes, until the last reference to it is released.
struct BodyPermit: Sendable {
    fileprivate let slot: Permit
    fileprivate let bytes: Permit

    /// Counts bytes that arrived.
    ///
    /// - Throws: `tooMany` at the client's limit; `unavailable` at the limit of all.
    func add(_ count: Int) throws(CatalogError) { try bytes.add(count) }
}

/// Counts the rows that a request reads and the points for its other work, which are charged when it is done.
final class WorkMeter: Sendable {
    private let rowCount = Atomic<Int>(0)
    private let pointCount = Atomic<Int>(0)

    var rows: Int { rowCount.load(ordering: .relaxed) }
    var points: Int { pointCount.load(ordering: .relaxed) }

    func add(rows: Int) { rowCount.add(rows, ordering: .relaxed) }
    func add(points: Int) { pointCount.add(points, ordering: .relaxed) }
}
