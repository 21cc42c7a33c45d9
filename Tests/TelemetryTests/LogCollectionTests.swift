import Glibc
import Telemetry
import Testing

/// How the log collects lines.
@Suite(.timeLimit(.minutes(5))) struct LogCollectionTests {
    /// Returns the texts of single writes to a log.
    private static func writes(_ lines: Int) throws -> [String] {
        var sockets: [Int32] = [0, 0]
        // Each write arrives as one message.
        try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &sockets) == 0)
        let output = try LogOutput(sockets[1]) { _ in [] }
        for number in 0..<lines {
            output.write("line \(number)\n".utf8)
            // Long enough for the log's thread to wake up, and short against the time of collecting.
            let end = ContinuousClock.now + .microseconds(50)
            while ContinuousClock.now < end {}
        }
        var texts: [String] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while texts.joined().split(separator: "\n").count < lines {
            let count = recv(sockets[0], &buffer, buffer.count, 0)
            try #require(count > 0)
            texts.append(String(decoding: buffer[..<count], as: UTF8.self))
        }
        return texts
    }

    @Test("Lines that arrive within a few milliseconds are written together")
    func collection() throws {
        // On a busy machine, a pause of this thread may be longer than the log waits, so one of several attempts must succeed.
        let isCollected = try (0..<50).contains { _ in try Self.writes(20).count == 1 }
        #expect(isCollected)
    }
}
