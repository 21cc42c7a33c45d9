import Glibc
import Telemetry
import Testing

/// The limits of lines that wait for a reader that does not read.
@Suite(.timeLimit(.minutes(5))) struct LogLimitTests {
    @Test("Lines fit up to the limit, a part is reserved for urgent ones, and what exceeds it is counted")
    func limits() throws {
        var descriptors: [Int32] = [0, 0]
        try #require(pipe(&descriptors) == 0)
        let (reader, writer) = (descriptors[0], descriptors[1])
        var limits = LogOutput.Limits()
        #expect(limits.ordinary == 4 << 20 && limits.urgent == 5 << 20)
        (limits.ordinary, limits.urgent) = (1000, 1100)
        let output = try LogOutput(writer, limits: limits) { Array("dropped \($0)\n".utf8) }

        // Fill the pipe, so that the thread of the output blocks with the first line in its hands.
        try #require(fcntl(writer, F_SETFL, fcntl(writer, F_GETFL) | O_NONBLOCK) == 0)
        let filler = [UInt8](repeating: UInt8(ascii: "f"), count: 4096)
        var filled = 0
        while true {
            let count = write(writer, filler, filler.count)
            guard count > 0 else { break }
            filled += count
        }
        try #require(fcntl(writer, F_SETFL, fcntl(writer, F_GETFL) & ~O_NONBLOCK) == 0)
        output.write("first\n".utf8)
        // The line has left the buffer once a line of the whole limit fits.
        let whole = [UInt8](repeating: UInt8(ascii: "w"), count: 1000)
        let deadline = ContinuousClock.now + .seconds(60)
        var attempts = 0
        while output.droppedLines == attempts, ContinuousClock.now < deadline {
            output.write(whole)
            if output.droppedLines == attempts { break }
            attempts += 1
            sched_yield()
        }
        #expect(ContinuousClock.now < deadline)
        let before = output.droppedLines
        output.write("x".utf8)
        #expect(output.droppedLines == before + 1, "the ordinary limit is reached")
        output.write([UInt8](repeating: UInt8(ascii: "u"), count: 100), isUrgent: true)
        #expect(output.droppedLines == before + 1, "the reserved part fits")
        output.write("y".utf8, isUrgent: true)
        #expect(output.droppedLines == before + 2)

        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while String(decoding: text.suffix(11), as: UTF8.self) != "udropped 2\n", ContinuousClock.now < deadline {
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else { break }
            text += buffer.prefix(count)
        }
        let rest = String(decoding: text.dropFirst(filled), as: UTF8.self)
        #expect(rest.hasPrefix("first\n"))
        #expect(
            rest.hasSuffix(String(repeating: "w", count: 1000) + String(repeating: "u", count: 100) + "dropped 2\n")
        )
        #expect(!rest.contains("x") && !rest.contains("y"))
        output.flush()
    }
}
