import Foundation
import LibPQ
import TestSupport
import Testing

/// What a server leaves behind when a fatal signal ends it.
@Suite(.timeLimit(.minutes(5))) struct CrashTests {
    /// The exit code and stderr of a server that was sent a signal.
    private func crash(_ signal: Int32, _ environment: [String: String] = [:]) async throws -> (Int32, String) {
        let database = try await TestDatabase.migrated()
        var variables = environment
        variables["DATABASE_URL"] = database.configuration.dsn
        let server = try TestProcess(["serve", "--port", "0"], environment: variables)
        _ = try #require(await server.port())
        server.signal(signal)
        let code = await server.wait()
        let text = server.standardError
        try await database.drop()
        return (code, text)
    }

    @Test(
        "A fatal signal leaves one line with signal, version, build and address, and still kills",
        arguments: [(SIGILL, "SIGILL"), (SIGSEGV, "SIGSEGV"), (SIGABRT, "SIGABRT")]
    )
    func aCrashLeavesALine(_ signal: Int32, _ name: String) async throws {
        let (code, text) = try await crash(signal, ["SWIFT_BACKTRACE": ""])
        #expect(code == 128 + signal)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("aisle: fatal") }
        #expect(lines.count == 1, "\(text)")
        let pattern =
            #/aisle: fatal (\w+), version \d+\.\d+\.\d+, build ([0-9a-f]{16,}|unknown), at (aisle\+)?0x[0-9a-f]+.*/#
        let match = try #require(lines.first?.wholeMatch(of: pattern), "\(text)")
        #expect(match.1 == name)
    }

    @Test("With SWIFT_BACKTRACE set, Swift's own backtracer is left alone")
    func theBacktracerIsLeftAlone() async throws {
        let (code, text) = try await crash(SIGSEGV, ["SWIFT_BACKTRACE": "enable=no"])
        #expect(code == 128 + SIGSEGV && !text.contains("aisle: fatal"))
    }
}
