import Testing

@testable import LibPQ

/// The loss of notices of a listener whose consumer is slow.
@Suite(.timeLimit(.minutes(15))) struct ListenLoopTests {
    private static func notice(_ number: Int) -> PostgresNotice { .notification(channel: "c", payload: "\(number)") }

    /// Yields notices to a stream that nobody reads yet, which keeps three, and returns what a reader gets.
    private static func received(_ notices: [PostgresNotice]) async throws -> [PostgresNotice] {
        let loop = try ListenLoop(PostgresConfiguration(dsn: ""), [])
        let (stream, continuation) = AsyncStream.makeStream(
            of: PostgresNotice.self,
            bufferingPolicy: .bufferingNewest(3)
        )
        for notice in notices { loop.yield(notice, to: continuation) }
        continuation.finish()
        var received: [PostgresNotice] = []
        for await notice in stream { received.append(notice) }
        return received
    }

    @Test("A full buffer has all notices and no gap", arguments: 0...3)
    func noLoss(_ count: Int) async throws {
        let notices = (0..<count).map { Self.notice($0) }
        #expect(try await Self.received(notices) == notices)
    }

    @Test("If notices are lost, the last one is followed by a gap", arguments: 4...9)
    func lossIsSignalled(_ count: Int) async throws {
        let received = try await Self.received((0..<count).map { Self.notice($0) })
        #expect(received.last == .gap)
        #expect(received.contains(Self.notice(count - 1)))
        #expect(received.count == 3)
    }

    @Test("A gap that does not fit is not followed by another one")
    func gapsAreNotRepeated() async throws {
        let received = try await Self.received((0..<3).map { Self.notice($0) } + [.gap])
        #expect(received == [Self.notice(1), Self.notice(2), .gap])
    }

    @Test("The loss of the connection that does not fit is followed by a gap")
    func lostConnection() async throws {
        let received = try await Self.received((0..<3).map { Self.notice($0) } + [.lost])
        #expect(received == [Self.notice(2), .lost, .gap])
    }
}
