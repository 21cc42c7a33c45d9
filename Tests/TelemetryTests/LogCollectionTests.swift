import Glibc
import Platform
import Synchronization
import Telemetry
import TestSupport
import Testing

/// An output whose collection of lines waits for the test.
@Suite(.timeLimit(.minutes(15))) struct LogCollectionTests {
    private final class Output: Sendable {
        let output: LogOutput
        private let reader: Int32
        private let gate: ThreadSignal

        init(ordinary: Int = 4 << 20, urgent: Int = 5 << 20) throws {
            var descriptors: [Int32] = [0, 0]
            try #require(pipe(&descriptors) == 0)
            reader = descriptors[0]
            let (gate, count) = (ThreadSignal(), Counter())
            self.gate = gate
            self.counter = count
            var limits = LogOutput.Limits()
            (limits.ordinary, limits.urgent) = (ordinary, urgent)
            output = try LogOutput(
                descriptors[1],
                limits: limits,
                collect: {
                    count.value.withLock { $0 += 1 }
                    gate.wait()
                },
                droppedLine: { Array("dropped \($0)\n".utf8) }
            )
        }

        final class Counter: Sendable { let value = Mutex(0) }
        private let counter: Counter

        /// The number of collections that have begun.
        var collections: Int { counter.value.withLock { $0 } }

        /// Waits until a number of collections have begun.
        func wait(_ collections: Int) async {
            _ = await eventually { self.collections >= collections }
        }

        /// Ends a collection, and returns what is written within a minute.
        func text() -> String {
            gate.send()
            var wanted = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, 60_000) > 0 else { return "nothing was written" }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let length = read(reader, &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, length)), as: UTF8.self)
        }
    }

    @Test("Lines are collected for five milliseconds, within four and five MiB")
    func defaults() {
        #expect(LogOutput.collection == 5000)
        let limits = LogOutput.Limits()
        #expect(limits.ordinary == 4 << 20 && limits.urgent == 5 << 20)
    }

    @Test("Lines that arrive during a collection are written together, and the next line begins another one")
    func collects() async throws {
        let test = try Output()
        test.output.write("a\n".utf8)
        await test.wait(1)
        test.output.write("b\n".utf8)
        test.output.write("c\n".utf8, isUrgent: true)
        #expect(test.text() == "a\nb\nc\n")
        test.output.write("d\n".utf8)
        await test.wait(2)
        #expect(test.text() == "d\n")
        #expect(test.collections == 2)
        test.output.flush()
    }

    @Test("Lines beyond the limit are dropped, counted and reported once; a part is left for urgent lines")
    func drops() async throws {
        let test = try Output(ordinary: 6, urgent: 9)
        test.output.write("abc\n".utf8)
        await test.wait(1)
        test.output.write("d\n".utf8)
        #expect(test.output.droppedLines == 0)
        test.output.write("e".utf8)
        test.output.write("f".utf8)
        test.output.write("gh\n".utf8, isUrgent: true)
        #expect(test.output.droppedLines == 2)
        test.output.write("i".utf8, isUrgent: true)
        #expect(test.output.droppedLines == 3)
        #expect(test.text() == "abc\nd\ngh\ndropped 3\n")
        test.output.write("j\n".utf8)
        await test.wait(2)
        #expect(test.text() == "j\n")
        #expect(test.output.droppedLines == 3)
    }

    @Test("A flush ends at its limit while lines wait, and at once without lines")
    func flushes() async throws {
        let test = try Output()
        test.output.flush(within: .seconds(3600))
        test.output.write("a\n".utf8)
        await test.wait(1)
        let start = ContinuousClock.now
        test.output.flush(within: .milliseconds(20))
        #expect(ContinuousClock.now - start >= .milliseconds(20))
        #expect(test.text() == "a\n")
        test.output.flush(within: .seconds(3600))
    }
}
