import Foundation
import LibPQ
import Platform
import Testing
import TestSupport

/// The crash report of a server that is ended by a fatal signal.
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
        "A fatal signal writes one line with signal, version, build and address, and still ends the process",
        arguments: [(SIGILL, "SIGILL"), (SIGSEGV, "SIGSEGV"), (SIGABRT, "SIGABRT")]
    )
    func crashWritesReport(_ signal: Int32, _ name: String) async throws {
        let (code, text) = try await crash(signal, ["SWIFT_BACKTRACE": ""])
        #expect(code == 128 + signal)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("aisle: fatal") }
        #expect(lines.count == 1, "\(text)")
        let pattern =
            #/aisle: fatal (\w+), version \d+\.\d+\.\d+, build ([0-9a-f]{16,}|unknown), at (aisle\+)?0x[0-9a-f]+.*/#
        let match = try #require(lines.first?.wholeMatch(of: pattern), "\(text)")
        #expect(match.1 == name)
    }

    @Test("With SWIFT_BACKTRACE set, Swift's own backtracer is not replaced")
    func keepsSwiftBacktracer() async throws {
        let (code, text) = try await crash(SIGSEGV, ["SWIFT_BACKTRACE": "enable=no"])
        #expect(code == 128 + SIGSEGV)
        #expect(!text.contains("aisle: fatal"))
    }

    /// Recurses until the stack overflows.
    private static func exhaustStack(_ depth: Int) -> Int {
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { buffer in
            buffer[0] = UInt8(truncatingIfNeeded: depth)
            return exhaustStack(depth + 1) + Int(buffer[0])
        }
    }

    @Test("A stack overflow writes the line too, with the accessed address")
    func stackOverflowWritesReport() async throws {
        let result = await #expect(
            processExitsWith: .signal(SIGSEGV),
            observing: [\.standardErrorContent]
        ) {
            CrashReport.install(version: "1.2.3")
            try OSThread.start(name: "deep") { _ = Self.exhaustStack(0) }
            try await Task.sleep(for: .seconds(60))
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let pattern = #/aisle: fatal SIGSEGV, version 1\.2\.3, build .*, accessing 0x[0-9a-f]+/#
        #expect(text.split(separator: "\n").contains { $0.wholeMatch(of: pattern) != nil }, "\(text)")
    }
}
