import Catalog
import LibPQ
import Testing

@testable import CatalogPostgres

/// The notices of a change source: lost and unknown notifications become gaps.
@Suite(.timeLimit(.minutes(15))) struct ChangeSourceTests {
    private static let topic = ChangeTopic.store(CatalogKey("s")!)

    @Test("If the buffer overflows, the last notice is followed by a gap", arguments: 0...6)
    func lossIsSignalled(_ count: Int) async {
        let (stream, continuation) = AsyncStream.makeStream(of: ChangeNotice.self, bufferingPolicy: .bufferingNewest(3))
        for _ in 0..<count { PostgresChangeSource.yield(.changed([Self.topic]), to: continuation) }
        continuation.finish()
        var received: [ChangeNotice] = []
        for await notice in stream { received.append(notice) }
        #expect(received.contains(.gap) == (count > 3))
        #expect(count <= 3 || received.last == .gap)
        #expect(received.count == min(count, 3))
    }

    @Test("A notification names what has changed, and one that cannot be read is a gap")
    func readsNotifications() {
        func notice(_ payload: String) -> ChangeNotice? {
            PostgresChangeSource.notice(.notification(channel: ChangeAnnouncer.channel, payload: payload))
        }
        #expect(notice("ss") == .changed([Self.topic]))
        #expect(notice("ss\nuann\n*") == .changed([Self.topic, .user(UserID("ann")!), .all]))
        for payload in ["other", "s", "u", "x1", "ss\nother"] { #expect(notice(payload) == .gap, "\(payload)") }
        #expect(PostgresChangeSource.notice(.gap) == .gap)
        // A gap follows after reconnecting.
        #expect(PostgresChangeSource.notice(.lost) == nil)
    }
}
