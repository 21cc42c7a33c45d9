import Testing

@testable import LibPQ

/// The pauses between attempts to connect.
@Suite(.timeLimit(.minutes(15))) struct RetryPausesTests {
    @Test("Pauses double from 100 milliseconds up to a limit, and begin again after a success")
    func doubling() {
        var pauses = RetryPauses(doublings: 3)
        #expect(pauses.failures == 0)
        for round in 0..<2 {
            for (index, pause) in [100, 200, 400, 800, 800, 800].enumerated() {
                #expect(pauses.fail(jitter: 1) == .milliseconds(pause), "\(round)")
                #expect(pauses.failures == index + 1)
            }
            pauses.succeed()
            #expect(pauses.failures == 0)
        }
        var constant = RetryPauses(doublings: 0)
        for _ in 0..<3 { #expect(constant.fail(jitter: 0.5) == .milliseconds(50)) }
    }

    @Test("Jitter shortens a pause by up to a half")
    func jitter() {
        var found: [Duration] = []
        for _ in 0..<200 {
            var pauses = RetryPauses(doublings: 4)
            found.append(pauses.fail())
        }
        #expect(found.allSatisfy { $0 >= .milliseconds(50) && $0 <= .milliseconds(100) })
        #expect(found.contains { $0 < .milliseconds(75) } && found.contains { $0 > .milliseconds(75) })
    }
}
