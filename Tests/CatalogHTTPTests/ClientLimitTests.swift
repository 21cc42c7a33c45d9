import Catalog
@testable import CatalogHTTP
import NIOCore
import NIOEmbedded
import Testing

/// The limits on what clients hold at the same time.
struct ClientLimitTests {
    private static let user = Client.user(UserID("ann")!)
    private static func address(_ number: UInt8) -> Client { .address([127, 0, 0, number]) }

    /// The limits of a server, which are per client, too, unless `limitsClients` is false.
    private static func admission(
        limitsClients: Bool = true,
        _ configure: (inout CatalogAPI.Options) -> Void
    ) -> Admission {
        var options = CatalogAPI.Options()
        options.rateLimit = limitsClients ? .standard : nil
        configure(&options)
        return Admission(options)
    }

    @Test("Anonymous clients use at most a quarter of the memory of bodies")
    func anonymousClientsLeaveMemoryToUsers() throws {
        let admission = Self.admission { $0.bodyMemoryLimit = 800 }
        let bodies = try (1...2).map { try admission.body(for: Self.address($0)) }
        for body in bodies { try body.add(100) }
        let third = try admission.body(for: Self.address(3))
        #expect(throws: CatalogError.unavailable) { try third.add(1) }
        let users = try (0..<6).map { try admission.body(for: .user(UserID("user\($0)")!)) }
        for body in users { try body.add(100) }
        #expect(admission.bodyBytes.amount == 800)
        let late = try admission.body(for: Self.user)
        #expect(throws: CatalogError.unavailable) { try late.add(1) }
        withExtendedLifetime((bodies, users)) {}
    }

    @Test("A client can have an eighth of the memory of bodies")
    func clientsHaveAnEighth() throws {
        let admission = Self.admission { $0.bodyMemoryLimit = 800 }
        let (one, two) = (try admission.body(for: Self.user), try admission.body(for: Self.user))
        try one.add(60)
        #expect(
            throws: CatalogError.tooMany(
                "the bodies that a client sends at the same time can have at most 100 bytes in total; wait until one has completed"
            )
        ) {
            try two.add(41)
        }
        try two.add(40)
        #expect(admission.bodyBytes.amount == 100)
        withExtendedLifetime((one, two)) {}
    }

    @Test("Without limits per client only the memory of all counts")
    func clientsCanBeUnlimited() throws {
        let admission = Self.admission(limitsClients: false) { $0.bodyMemoryLimit = 800 }
        let body = try admission.body(for: Self.user)
        try body.add(800)
        #expect(throws: CatalogError.unavailable) { try body.add(1) }
    }

    @Test("The memory of a body is returned when its request ends")
    func memoryIsReturned() throws {
        let admission = Self.admission { $0.bodyMemoryLimit = 800 }
        for _ in 0..<20 {
            let body = try admission.body(for: Self.user)
            try body.add(100)
            #expect(admission.bodyBytes.amount == 100)
            withExtendedLifetime(body) {}
        }
        #expect(admission.bodyBytes.amount == 0)
        let stranger = try admission.body(for: Self.address(1))
        try stranger.add(100)
    }

    @Test("A client can send a limited number of bodies at the same time")
    func bodiesPerClientAreLimited() throws {
        let admission = Self.admission { $0.bodyMemoryLimit = 800 }
        var bodies = try (0..<Admission.bodiesPerClient).map { _ in try admission.body(for: Self.user) }
        #expect(throws: CatalogError.self) { try admission.body(for: Self.user) }
        _ = try admission.body(for: Self.address(1))
        bodies.removeLast()
        _ = try admission.body(for: Self.user)
    }

    @Test("A client can have a limited number of streams, and new ones when it closes some")
    func streamsPerClientAreLimited() throws {
        let streams = Self.admission { $0.streamsPerClientLimit = 2 }.shelfStreams
        var open = [try streams.permit(for: Self.user), try streams.permit(for: Self.user)]
        #expect(throws: CatalogError.tooMany("a client can have at most 2 event streams; close unused ones")) {
            try streams.permit(for: Self.user)
        }
        _ = try streams.permit(for: Self.address(1))
        open.removeFirst()
        _ = try streams.permit(for: Self.user)
    }

    @Test("A client can have a limited number of imports, and all clients together, too")
    func importsAreLimited() throws {
        let imports = Self.admission { _ in }.imports
        let first = try imports.permit(for: Self.user)
        let second = try imports.permit(for: Self.user)
        #expect(
            throws: CatalogError.tooMany("too many of your imports are in progress; wait until one of them has ended")
        ) {
            try imports.permit(for: Self.user)
        }
        let others = try ["bob", "eve"].map { try imports.permit(for: .user(UserID($0)!)) }
        #expect(throws: CatalogError.unavailable) { try imports.permit(for: .user(UserID("tim")!)) }
        first.release()
        _ = try imports.permit(for: .user(UserID("tim")!))
        withExtendedLifetime((second, others)) {}
    }

    @Test("A client can have an eighth of the large requests, and all clients together a limited number")
    func largeRequestsAreLimited() throws {
        let requests = Self.admission { $0.costlyLimit = 16 }.costlyRequests
        // Clients without a token have a quarter together.
        var permits = try [1, 1, 2, 2].map { try requests.permit(for: Self.address($0)) }
        #expect(throws: CatalogError.unavailable) { try requests.permit(for: Self.address(3)) }
        for number in 1...6 {
            for _ in 0..<2 { permits.append(try requests.permit(for: .user(UserID("user\(number)")!))) }
        }
        #expect(throws: CatalogError.unavailable) { try requests.permit(for: Self.user) }
        #expect(
            throws: CatalogError.tooMany("too many of your large requests are in progress; send fewer at the same time")
        ) {
            try requests.permit(for: Self.address(1))
        }
        permits.removeFirst()
        permits.append(try requests.permit(for: Self.user))
        // The failed attempts took nothing.
        #expect(throws: CatalogError.unavailable) { try requests.permit(for: Self.address(1)) }
        withExtendedLifetime(permits) {}
    }

    /// Connects from an address; nil if the connection is refused.
    ///
    /// - Parameter channels: all channels, which the test closes at its end.
    private static func connect(
        _ limiter: ConnectionLimiter,
        from address: String,
        _ channels: inout [EmbeddedChannel]
    ) throws -> EmbeddedChannel? {
        let channel = EmbeddedChannel(handler: limiter.handler())
        channels.append(channel)
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        return channel.isActive ? channel : nil
    }

    @Test("An address can have a limited number of connections, a trusted proxy any")
    func connectionsPerAddressAreLimited() throws {
        let limiter = ConnectionLimiter(limit: 2, except: TrustedProxies([NetworkRange("10.0.0.0/8")!]))
        var channels: [EmbeddedChannel] = []
        defer {
            // Runs the tasks of the channel's event loop, too, which otherwise keep the channel alive.
            for channel in channels {
                #expect(throws: Never.self) { try channel.finish(acceptAlreadyClosed: true) }
            }
        }
        func connect(_ address: String) throws -> EmbeddedChannel? {
            try Self.connect(limiter, from: address, &channels)
        }
        let first = try #require(try connect("192.0.2.1"))
        _ = try #require(try connect("192.0.2.1"))
        #expect(try connect("192.0.2.1") == nil)
        #expect(try connect("192.0.2.2") != nil)
        for _ in 0..<5 { #expect(try connect("10.1.2.3") != nil) }
        // The networks of 64 bits count, not their addresses.
        for number in 1...2 { #expect(try connect("2001:db8::\(number)") != nil) }
        #expect(try connect("2001:db8::3") == nil)
        #expect(try connect("2001:db8:0:1::3") != nil)
        try first.close().wait()
        #expect(try connect("192.0.2.1") != nil)
    }
}
