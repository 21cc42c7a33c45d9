@testable import Live
import Synchronization
import Testing

@Suite("Coalesced reads", .timeLimit(.minutes(15))) struct ReadCoalescerTests {
    @Test("Requests during a read result in one more read")
    func requestsDuringReadAreCoalesced() async throws {
        let coalescer = ReadCoalescer()
        let (begun, begin) = AsyncStream.makeStream(of: Int.self)
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        let running = Mutex(0)
        let count = Mutex(0)
        let read: @Sendable () async -> Void = {
            let number = count.withLock {
                $0 += 1; return $0
            }
            let others = running.withLock {
                $0 += 1; return $0 - 1
            }
            #expect(others == 0)
            begin.yield(number)
            for await _ in permits { break }
            running.withLock { $0 -= 1 }
        }
        var reads = begun.makeAsyncIterator()
        coalescer.run(read)
        #expect(await reads.next() == 1)
        for _ in 0..<10 { coalescer.run(read) }
        permit.yield()
        #expect(await reads.next() == 2)
        permit.yield()
        let deadline = ContinuousClock.now + .seconds(600)
        while coalescer.isReading, ContinuousClock.now < deadline { await Task.yield() }
        #expect(count.withLock { $0 } == 2)
        // A request after the last read starts another one.
        coalescer.run(read)
        #expect(await reads.next() == 3)
        permit.yield()
    }
}
