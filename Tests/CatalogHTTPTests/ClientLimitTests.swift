import Catalog
@testable import CatalogHTTP
import NIOCore
import NIOEmbedded
import Testing

/// The limits on what clients hold at the same time.
struct ClientLimitTests {
    private static let user = RateLimiter.Client.user(UserID("ann")!)
    private static func address(_ number: UInt8) -> RateLimiter.Client { .address([127, 0, 0, number]) }

    @Test("Anonymous clients use at most a quarter of the memory of bodies")
    func anonymousClientsLeaveMemoryToUsers() throws {
        let memory = BodyMemory(limit: 800, limitsClients: true)
        let bodies = try (1...2).map { try memory.open(Self.address($0)) }
        for body in bodies { try body.add(100) }
        let third = try memory.open(Self.address(3))
        #expect(throws: CatalogError.unavailable) { try third.add(1) }
        let users = try (0..<6).map { try memory.open(.user(UserID("user\($0)")!)) }
        for body in users { try body.add(100) }
        #expect(memory.bytes == 800)
        let late = try memory.open(Self.user)
        #expect(throws: CatalogError.unavailable) { try late.add(1) }
    }

    @Test("A client can have an eighth of the memory of bodies")
    func clientsHaveAnEighth() throws {
        let memory = BodyMemory(limit: 800, limitsClients: true)
        let (one, two) = (try memory.open(Self.user), try memory.open(Self.user))
        try one.add(60)
        #expect(
            throws: CatalogError.tooMany(
                "the bodies that a client sends at the same time can have at most 100 bytes in total; wait until one has completed"
            )
        ) {
            try two.add(41)
        }
        try two.add(40)
        #expect(memory.bytes == 100)
    }

    @Test("Without limits per client only the memory of all counts")
    func clientsCanBeUnlimited() throws {
        let memory = BodyMemory(limit: 800, limitsClients: false)
        let body = try memory.open(Self.user)
        try body.add(800)
        #expect(throws: CatalogError.unavailable) { try body.add(1) }
    }

    @Test("The memory of a body is returned when its request ends")
    func memoryIsReturned() throws {
        let memory = BodyMemory(limit: 800, limitsClients: true)
        for _ in 0..<20 {
            let body = try memory.open(Self.user)
            try body.add(100)
            #expect(memory.bytes == 100)
        }
        #expect(memory.bytes == 0)
        let stranger = try memory.open(Self.address(1))
        try stranger.add(100)
    }

    @Test("A client can send a limited number of bodies at the same time")
    func bodiesPerClientAreLimited() throws {
        let memory = BodyMemory(limit: 800, limitsClients: true)
        var bodies = try (0..<BodyMemory.bodiesPerClient).map { _ in try memory.open(Self.user) }
        #expect(throws: CatalogError.self) { try memory.open(Self.user) }
        _ = try memory.open(Self.address(1))
        bodies.removeLast()
        _ = try memory.open(Self.user)
    }

    @Test("A client can have a limited number of streams, and new ones when it closes some")
    func streamsPerClientAreLimited() throws {
        let streams = ClientStreams(limit: 2)
        var open = [try streams.open(Self.user), try streams.open(Self.user)]
        #expect(throws: CatalogError.tooMany("a client can have at most 2 event streams; close unused ones")) {
            try streams.open(Self.user)
        }
        _ = try streams.open(Self.address(1))
        open.removeFirst()
        _ = try streams.open(Self.user)
    }

    @Test("A client can have an eighth of the large requests, and all clients together a limited number")
    func largeRequestsAreLimited() throws {
        let requests = CostlyRequests(limit: 16, limitsClients: true)
        // Clients without a token have a quarter together.
        for number in 1...2 {
            for _ in 0..<2 { try requests.acquire(Self.address(UInt8(number))) }
        }
        #expect(throws: CatalogError.unavailable) { try requests.acquire(Self.address(3)) }
        for number in 1...6 {
            for _ in 0..<2 { try requests.acquire(.user(UserID("user\(number)")!)) }
        }
        #expect(throws: CatalogError.unavailable) { try requests.acquire(Self.user) }
        #expect(
            throws: CatalogError.tooMany("too many of your large requests are in progress; send fewer at the same time")
        ) {
            try requests.acquire(Self.address(1))
        }
        requests.release(Self.address(1))
        try requests.acquire(Self.user)
        // The failed attempts took nothing.
        #expect(throws: CatalogError.unavailable) { try requests.acquire(Self.address(1)) }
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
