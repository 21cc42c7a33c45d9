import Glibc
import Testing

@testable import LibPQ

/// The mailbox of a pipeline, and the descriptors that wake threads.
@Suite(.timeLimit(.minutes(15))) struct PipelineMailboxTests {
    /// Returns whether a descriptor is readable, and makes it unreadable.
    private static func takeSignal(_ wakeup: Wakeup) -> Bool {
        let outcome = pollDescriptors([(descriptor: wakeup.descriptor, events: Int16(POLLIN))], until: .now)
        wakeup.drain()
        return outcome.events[0] != 0
    }

    @Test("The first job wakes the driver, and later ones do not until it has collected them")
    func wakesOnce() throws {
        let mailbox = try PipelineMailbox()
        #expect(!Self.takeSignal(mailbox.wakeup))
        #expect(mailbox.post(RecordedJob(), limit: 3)?.kind == nil)
        #expect(Self.takeSignal(mailbox.wakeup))
        #expect(mailbox.post(RecordedJob(), limit: 3)?.kind == nil)
        #expect(!Self.takeSignal(mailbox.wakeup))
        #expect(mailbox.collect(finished: 0).jobs.count == 2)
        #expect(mailbox.collect(finished: 0).jobs.isEmpty)
        #expect(mailbox.post(RecordedJob(), limit: 3)?.kind == nil)
        #expect(Self.takeSignal(mailbox.wakeup))
    }

    @Test("Jobs count as in flight until they have finished, and further jobs are refused at the limit")
    func limit() throws {
        let mailbox = try PipelineMailbox()
        for _ in 0..<2 { #expect(mailbox.post(RecordedJob(), limit: 2)?.kind == nil) }
        #expect(mailbox.post(RecordedJob(), limit: 2)?.kind == .exhausted)
        #expect(mailbox.inFlight == 2)
        #expect(mailbox.collect(finished: 0).jobs.count == 2)
        #expect(mailbox.post(RecordedJob(), limit: 2)?.kind == .exhausted)
        #expect(mailbox.collect(finished: 1).inFlight == 1)
        #expect(mailbox.inFlight == 1)
        #expect(mailbox.post(RecordedJob(), limit: 2)?.kind == nil)
        #expect(mailbox.inFlight == 2)
        #expect(mailbox.collect(finished: 2).jobs.count == 1)
        #expect(mailbox.inFlight == 0)
    }

    @Test("Connections and queries for new connections are delivered once, and wake the driver")
    func deliveries() throws {
        let mailbox = try PipelineMailbox()
        mailbox.deliver(3, .failure(PostgresError(.connection, "refused")))
        #expect(Self.takeSignal(mailbox.wakeup))
        mailbox.warmUp([PostgresQuery("SELECT 1")])
        #expect(Self.takeSignal(mailbox.wakeup))
        let content = mailbox.collect(finished: 0)
        #expect(content.connected.map(\.slot) == [3])
        #expect(content.warmUp?.map(\.statement.sql) == ["SELECT 1"])
        let next = mailbox.collect(finished: 0)
        #expect(next.connected.isEmpty && next.warmUp?.count == nil && !next.isShutDown)
    }

    @Test("After a shutdown, jobs are refused and do not count")
    func shutdown() throws {
        let mailbox = try PipelineMailbox()
        #expect(mailbox.post(RecordedJob(), limit: 2)?.kind == nil)
        _ = Self.takeSignal(mailbox.wakeup)
        mailbox.shutDown()
        #expect(Self.takeSignal(mailbox.wakeup))
        #expect(mailbox.post(RecordedJob(), limit: 2)?.kind == .exhausted)
        #expect(!Self.takeSignal(mailbox.wakeup))
        let content = mailbox.collect(finished: 0)
        #expect(content.isShutDown && content.jobs.count == 1 && content.inFlight == 1)
        #expect(mailbox.collect(finished: 1).isShutDown)
    }

    @Test("Several signals are taken together, and a poll ends at its deadline")
    func signals() throws {
        let wakeup = try Wakeup()
        for _ in 0..<3 { wakeup.signal() }
        #expect(Self.takeSignal(wakeup))
        #expect(!Self.takeSignal(wakeup))
        let past = ContinuousClock.now - .seconds(1)
        let late = pollDescriptors([(descriptor: wakeup.descriptor, events: Int16(POLLIN))], until: past)
        #expect(late.timedOut && late.events == [0])
        wakeup.signal()
        let ready = pollDescriptors([(descriptor: wakeup.descriptor, events: Int16(POLLIN))], until: nil)
        #expect(!ready.timedOut && ready.events == [Int16(POLLIN)])
    }

    @Test("A request to stop concerns one operation, until it ends")
    func interrupts() throws {
        let interrupt = try Interrupt()
        let (first, second) = (interrupt.begin(), interrupt.begin())
        #expect(first != second)
        interrupt.request(first)
        #expect(interrupt.isRequested(first) && !interrupt.isRequested(second))
        #expect(Self.takeSignal(interrupt.wakeup))
        interrupt.end(second)
        #expect(interrupt.isRequested(first))
        interrupt.end(first)
        #expect(!interrupt.isRequested(first))
        #expect(interrupt.begin() != second)
    }
}
