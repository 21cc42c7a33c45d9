import Glibc
import Synchronization
import Testing

@testable import Platform

/// Threads, time limits, contexts and ids of the platform.
@Suite("Parts of the platform", .timeLimit(.minutes(15))) struct PlatformPartTests {
    @Test(
        "Numbers are read from lower-case hexadecimal digits only",
        arguments: [
            ("", 0), ("0", 0), ("9", 9), ("a", 10), ("f", 15), ("10", 16), ("ffffffffffffffff", UInt64.max), ("/", nil),
            (":", nil), ("`", nil), ("g", nil), ("A", nil), ("F", nil), ("1 ", nil),
        ] as [(String, UInt64?)]
    )
    func hexadecimalNumbers(_ text: String, _ number: UInt64?) {
        #expect(Hexadecimal.number(Array(text.utf8)[...]) == number)
    }

    @Test("Ids have all their digits, and are not zero")
    func ids() {
        #expect(TraceID(high: 0, low: 0) == nil && SpanID(0) == nil)
        #expect(TraceID(high: 0, low: 1)?.text == "00000000000000000000000000000001")
        #expect(TraceID(high: 0x0123_4567_89AB_CDEF, low: 0)?.text == "0123456789abcdef0000000000000000")
        #expect(SpanID(0xFEDC_BA98_7654_3210)?.text == "fedcba9876543210")
    }

    @Test("A header of a later version has at most 256 bytes, and the state of vendors printable characters and tabs")
    func traceParents() {
        let start = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-"
        let longest = start + String(repeating: "a", count: 256 - start.utf8.count)
        #expect(TraceParent(longest) != nil)
        #expect(TraceParent(longest + "a") == nil)
        let parent = TraceParent(trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, isSampled: false)
        #expect(parent.isRandom && parent.state == nil && parent.flags == 2)
        #expect(TraceParent.stateLimit == 512)
        for (state, isValid) in [("a= ~", true), ("a=\t", true), ("a=\u{7F}", false), ("a=\u{1F}", false), ("=", true)]
        {
            #expect((TraceParent(parent.text, state: state)?.state == state) == isValid, "\(state.debugDescription)")
        }
    }

    @Test("A thread has its name, and a signal that was sent before the wait is kept")
    func threads() throws {
        let done = ThreadSignal()
        let box = Box(name: "")
        try OSThread.start(name: "a long name of a thread") {
            var buffer = [UInt8](repeating: 0, count: 64)
            let file = open("/proc/thread-self/comm", O_RDONLY)
            let length = read(file, &buffer, buffer.count)
            close(file)
            let found = String(decoding: buffer.prefix(max(length - 1, 0)), as: UTF8.self)
            box.name.withLock { $0 = found }
            done.send()
        }
        done.wait()
        #expect(box.name.withLock { $0 } == "a long name of ")
        done.send()
        done.send()
        done.wait()
        done.wait()
    }

    private final class Box: Sendable {
        let name: Mutex<String>
        init(name: String) { self.name = Mutex(name) }
    }

    @Test("All bytes are written to a descriptor, and a failure is reported")
    func writes() throws {
        var descriptors: [Int32] = [0, 0]
        try #require(pipe(&descriptors) == 0)
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
        let writer = descriptors[1]
        let result = Box(name: "")
        let done = ThreadSignal()
        // More bytes than a pipe holds need several writes.
        try OSThread.start(name: "writer") {
            let isWritten = writer.writeAll(bytes)
            result.name.withLock { $0 = "\(isWritten)" }
            close(writer)
            done.send()
        }
        var found: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 10_000)
        while true {
            let count = read(descriptors[0], &buffer, buffer.count)
            guard count > 0 else { break }
            found += buffer.prefix(count)
        }
        done.wait()
        #expect(found == bytes)
        #expect(result.name.withLock { $0 } == "true")
        #expect(!descriptors[0].writeAll([1] as [UInt8]), "the reading end takes no bytes")
        #expect(descriptors[0].writeAll([] as [UInt8]))
        close(descriptors[0])
    }

    @Test("The result of an operation counts if it is in time; otherwise the fallback does, and the operation goes on")
    func timeLimits() async {
        #expect(await result(within: .seconds(3600), otherwise: 1) { 2 } == 2)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        let value = await result(within: .milliseconds(1), otherwise: 1) {
            for await _ in gate { break }
            end.yield(Task.isCancelled)
            return 2
        }
        #expect(value == 1)
        open.yield()
        var ends = ended.makeAsyncIterator()
        #expect(await ends.next() == false)
    }

    private struct TestError: Error {}

    @Test("Work runs with its context, which is gone afterwards")
    func contexts() async {
        let recorder = StepRecorder()
        let trace = TraceParent(trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, isSampled: true)
        let context = TaskContext(steps: recorder, trace: trace)
        func check() -> Bool { StepRecorder.current === recorder && TaskContext.current.trace == trace }
        let isSet = await context.run { () async -> Bool in
            await Task.yield()
            return check()
        }
        #expect(isSet)
        #expect(StepRecorder.current == nil && TaskContext.current.trace == nil && CurrentEventLoop.value == nil)
        func measured() -> Bool { context.run { check() } }
        #expect(measured())
        let executor = NoExecutor()
        let loop = TaskContext(eventLoop: CurrentEventLoop(number: 7, executor: executor))
        func number() -> Int? { loop.run { CurrentEventLoop.value?.number } }
        #expect(number() == 7)
    }

    private final class NoExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {}
    }

    @Test("A measured step has its kind, its name and the kind of its error, and lasts as long as its body")
    func steps() {
        let recorder = StepRecorder()
        func fail() throws { throw TestError() }
        func run() {
            TaskContext(steps: recorder).run {
                StepRecorder.measure(.wait, "a") {}
                do { try StepRecorder.measure(.preparation, "b", failure: { _ in "f" }) { try fail() } } catch {}
            }
        }
        run()
        let (steps, dropped) = recorder.recorded
        #expect(steps.map(\.kind) == [.wait, .preparation] && steps.map(\.name) == ["a", "b"])
        #expect(steps.map(\.failure) == [nil, "f"] && dropped == 0)
        #expect(steps[0].end <= steps[1].start)
        #expect(StepRecorder.limit == 128)
        let start = ContinuousClock.now
        let step = StepRecorder.Step(.statement, "s", start: start, end: start + .seconds(2), failure: "x")
        #expect(step.duration == .seconds(2) && step.failure == "x" && step.name == "s" && step.kind == .statement)
        #expect(StepRecorder.shared(by: []) == nil)
    }
}
