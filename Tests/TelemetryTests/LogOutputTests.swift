import Glibc
import Telemetry
import Testing

@Suite(.timeLimit(.minutes(15))) struct LogOutputTests {
    /// A pipe whose reader can be slow.
    private struct Pipe {
        let reader: Int32
        let writer: Int32

        init() throws {
            var descriptors: [Int32] = [0, 0]
            try #require(pipe(&descriptors) == 0)
            (reader, writer) = (descriptors[0], descriptors[1])
        }

        /// Reads until a text arrives.
        func text(until end: String) -> String {
            var text = ""
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while !text.contains(end) {
                let count = read(reader, &buffer, buffer.count)
                guard count > 0 else { break }
                text += String(decoding: buffer.prefix(count), as: UTF8.self)
            }
            return text
        }
    }

    private static func dropped(_ count: Int) -> [UInt8] { Array("dropped \(count)\n".utf8) }

    @Test("Lines are written in order")
    func order() throws {
        let pipe = try Pipe()
        let output = try LogOutput(pipe.writer) { Self.dropped($0) }
        for number in 0..<1000 { output.write("line \(number)\n".utf8) }
        let lines = pipe.text(until: "line 999\n").split(separator: "\n")
        #expect(lines == (0..<1000).map { "line \($0)" })
        #expect(output.droppedLines == 0)
    }

    @Test("If the reader is too slow, lines are dropped and counted, and the caller does not wait")
    func slowReader() throws {
        let pipe = try Pipe()
        var limits = LogOutput.Limits()
        (limits.ordinary, limits.urgent) = (1000, 1100)
        let output = try LogOutput(pipe.writer, limits: limits) { Self.dropped($0) }
        let line = Array((String(repeating: "x", count: 99) + "\n").utf8)
        // The output's thread blocks once the pipe is full.
        var written = 0
        while output.droppedLines < 10 {
            output.write(line)
            written += 1
        }
        output.write("urgent\n".utf8, isUrgent: true)
        let text = pipe.text(until: "dropped ")
        #expect(text.contains("urgent\n"))
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("x") }
        #expect(lines.allSatisfy { $0.count == 99 })
        #expect(lines.count + output.droppedLines == written)
    }

    @Test("A flush waits until all lines are written")
    func flush() throws {
        let pipe = try Pipe()
        let output = try LogOutput(pipe.writer) { Self.dropped($0) }
        output.write("last\n".utf8)
        output.flush()
        var ready = pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, 0) == 1)
    }
}
