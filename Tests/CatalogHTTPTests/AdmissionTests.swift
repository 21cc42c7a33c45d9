import Catalog
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

@testable import CatalogHTTP

/// The admission of requests: quotas, and limits that depend on them.
@Suite(.timeLimit(.minutes(15))) struct AdmissionTests {
    private static let user = Client.user(UserID("ann")!)

    private static func admission(_ quota: String?, _ change: (inout CatalogAPI.Options) -> Void = { _ in })
        -> Admission
    {
        var options = CatalogAPI.Options()
        let clock = FakeClock()
        options.rateLimit = quota.flatMap { RateLimitPolicy($0) }
        options.clock = { clock.now }
        change(&options)
        return Admission(options)
    }

    private static func endpoint(_ access: Access) -> Endpoint {
        Endpoint(.get, "/a", access, nil) { _ in .noContent }
    }

    @Test("The limits of a server are those of the documentation")
    func defaults() {
        let options = CatalogAPI.Options()
        #expect(options.bodyLimit == 1 << 20 && options.bodyTimeout == .seconds(20))
        #expect(options.concurrentImportLimit == 4 && options.importsPerClientLimit == 2)
        #expect(options.costlyLimit == 256 && options.importTimeout == .seconds(1800))
        #expect(options.importPace.minimumRate == 16 << 10 && options.importPace.gracePeriod == .seconds(10))
        #expect(options.bodyMemoryLimit == 256 << 20 && options.streamsPerClientLimit == 200)
        #expect(options.rejectionDelay == .milliseconds(500) && options.pageCacheLimit == 32 << 20)
        #expect(options.rateLimit == nil && options.slowRequest == nil && !options.observesClients)
        #expect(options.origins.isEmpty && options.imageOrigins.isEmpty && options.demo == nil)
        #expect(Admission.bodiesPerClient == 256)
        #expect(RateLimitPolicy.standard.burst == 6000 && RateLimitPolicy.standard.rate == 600)
    }

    @Test("A request is charged if there are quotas and its endpoint is not free")
    func charges() throws {
        let admission = Self.admission("10/1")
        var quota: RateLimiter.Quota?
        try admission.charge(3, to: Self.user, Self.endpoint(.open), &quota)
        #expect(quota == nil)
        try admission.charge(3, to: Self.user, Self.endpoint(.user), &quota)
        #expect(quota?.remaining == 7 && quota?.reset == 3)
        #expect(throws: Problem.self) { try admission.charge(8, to: Self.user, Self.endpoint(.user), &quota) }
        #expect(quota?.remaining == 7 && quota?.reset == 1)
        var none: RateLimiter.Quota?
        try Self.admission(nil).charge(1_000_000, to: Self.user, Self.endpoint(.user), &none)
        #expect(none == nil)
    }

    /// A response with a body of a length.
    private static func response(_ length: Int) -> Response {
        Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0, count: length)))
    }

    @Test("A completed request is charged for its rows, its other work and its response")
    func settles() throws {
        let caller = Caller(user: UserID("ann")!, expiresAt: Timestamp(microseconds: 0))
        for (rows, points, length, remaining) in [
            (0, 0, 32_768, nil), (1000, 0, 0, 99), (0, 4, 0, 96), (2000, 3, 40_960, 95), (0, 0, 49_152, 98),
        ] as [(Int, Int, Int, Int?)] {
            let admission = Self.admission("100/1")
            let call = try Call.sample(.get, "/a", caller: caller)
            call.work.add(rows: rows)
            call.work.add(points: points)
            var quota: RateLimiter.Quota?
            admission.settle(Self.response(length), call, &quota)
            #expect(quota?.remaining == remaining)
        }
        var quota: RateLimiter.Quota?
        let call = try Call.sample(.get, "/a", caller: caller)
        call.work.add(points: 5)
        Self.admission(nil).settle(Self.response(0), call, &quota)
        #expect(quota == nil)
    }

    @Test("Work is added up")
    func meters() {
        let meter = WorkMeter()
        #expect(meter.rows == 0 && meter.points == 0)
        for number in 1...3 {
            meter.add(rows: number)
            meter.add(points: 10 * number)
        }
        #expect(meter.rows == 6 && meter.points == 60)
    }

    @Test("Without quotas, one client may use everything")
    func unlimitedClients() throws {
        let admission = Self.admission(nil) {
            $0.costlyLimit = 16
            $0.streamsPerClientLimit = 1
            $0.importsPerClientLimit = 1
            $0.concurrentImportLimit = 3
        }
        let address = Client.address([127, 0, 0, 1])
        let costly = try (0..<16).map { _ in try admission.costlyRequests.permit(for: address) }
        #expect(throws: CatalogError.self) { try admission.costlyRequests.permit(for: address) }
        let streams = try (0..<3).map { _ in try admission.shelfStreams.permit(for: address) }
        let imports = try (0..<3).map { _ in try admission.imports.permit(for: address) }
        #expect(throws: CatalogError.unavailable) { try admission.imports.permit(for: address) }
        let bodies = try (0..<257).map { _ in try admission.body(for: address) }
        withExtendedLifetime((costly, streams, imports, bodies)) {}
    }

    @Test("A client has at least one large request, however low the limit is")
    func lowLimits() throws {
        let requests = Self.admission("10/1") { $0.costlyLimit = 2 }.costlyRequests
        let first = try requests.permit(for: .address([127, 0, 0, 1]))
        // Clients without a token have one together.
        #expect(throws: CatalogError.unavailable) { try requests.permit(for: .address([127, 0, 0, 2])) }
        let second = try requests.permit(for: Self.user)
        #expect(throws: CatalogError.self) { try requests.permit(for: .user(UserID("bob")!)) }
        withExtendedLifetime((first, second)) {}
    }

    @Test("The reasons for refusals say what to do")
    func reasons() throws {
        let admission = Self.admission("10/1") { $0.bodyMemoryLimit = 800 }
        let bodies = try (0..<256).map { _ in try admission.body(for: Self.user) }
        #expect(
            throws: CatalogError.tooMany(
                "a client can send at most 256 bodies at the same time; wait until one has completed"
            )
        ) { try admission.body(for: Self.user) }
        let delays = try (0..<1000).map { _ in try admission.delays.permit() }
        #expect(throws: CatalogError.unavailable) { try admission.delays.permit() }
        withExtendedLifetime((bodies, delays)) {}
    }

    // MARK: - The limiter

    @Test("The headers of a quota have the policy, the remaining points and the seconds")
    func headers() {
        var fields = HTTPFields()
        RateLimiter.Quota(policy: RateLimitPolicy("11/2")!, remaining: 3, reset: 4).add(to: &fields)
        #expect(
            fields == [
                HTTPField.Name("RateLimit-Policy")!: #""default";q=11;w=6"#,
                HTTPField.Name("RateLimit")!: #""default";r=3;t=4"#,
            ]
        )
    }

    @Test("A rejection says what the request costs, what is left and when to retry; each client has its own quota")
    func rejections() throws {
        let clock = FakeClock()
        let limiter = RateLimiter(RateLimitPolicy("10/2")!, clock: { clock.now })
        var quota: RateLimiter.Quota?
        try limiter.charge(8, to: Self.user, &quota)
        #expect(quota == RateLimiter.Quota(policy: RateLimitPolicy("10/2")!, remaining: 2, reset: 4))
        let problem = #expect(throws: Problem.self) { try limiter.charge(7, to: Self.user, &quota) }
        #expect(problem?.kind == .rateLimited)
        #expect(problem?.detail == "too many requests; this one costs 7 points and 2 are left; retry in 3 s")
        #expect(problem?.headers[.retryAfter] == "3")
        #expect(quota == RateLimiter.Quota(policy: RateLimitPolicy("10/2")!, remaining: 2, reset: 3))
        try limiter.charge(10, to: .local, &quota)
        #expect(quota?.remaining == 0)
        limiter.settle(12, with: Self.user, &quota)
        #expect(quota == RateLimiter.Quota(policy: RateLimitPolicy("10/2")!, remaining: 0, reset: 10))
        clock.advance(.seconds(10))
        try limiter.charge(10, to: Self.user, &quota)
        #expect(quota?.remaining == 0)
    }

    @Test(
        "A quota has a maximum of up to a billion, and refills at least one point per second",
        arguments: [
            ("1/1", true), ("1000000000/1", true), ("1000000000/1000000000", true), ("1000000001/1", false),
            ("1/0", false), ("1/2", false), ("2/2/2", false), ("/1", false), ("1/", false), (" 1/1", false),
        ]
    )
    func policies(text: String, isValid: Bool) { #expect((RateLimitPolicy(text) != nil) == isValid) }
}
