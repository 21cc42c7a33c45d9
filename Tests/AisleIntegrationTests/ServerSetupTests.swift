import Platform
import Testing

@testable import aisle

/// The preparation of a server that needs sockets.
@Suite(.timeLimit(.minutes(15))) struct ServerSetupTests {
    @Test("A key set that is not there yet, or is for any audience, is noted")
    func keySets() async throws {
        let warning =
            "aisle: warning: without jwt.audience, tokens that the provider issued for other services are accepted\n"
        let unavailable =
            "aisle: cannot fetch the key set of jwks yet; requests with tokens get 503 until it is available\n"
        for (audience, notes) in [([:], unavailable + warning), (["AISLE_JWT_AUDIENCE": "a"], unavailable)]
            as [([String: String], String)]
        {
            let record = TerminalRecord()
            let environment = ["AISLE_JWKS": "https://127.0.0.1:1/keys.json"].merging(audience) { $1 }
            let tokens = try ServerSettings(environment: environment).tokens
            let isMade = try await TaskContext(terminal: record).run { try await tokens.verifier() != nil }
            #expect(isMade)
            #expect(record.notes == notes)
        }
    }

    @Test("The first free port is at or after the wanted one")
    func freePort() throws {
        // Ports above the range of the system's own choice are rarely taken; a taken one is skipped.
        let first = Server.freePort(from: 61_200, host: "localhost")
        #expect((61_200..<61_300).contains(first))
        #expect(Server.freePort(from: first, host: "127.0.0.1") == first)
        // The last port is not tried, and without a free port, the wanted one is reported by the server itself.
        #expect(Server.freePort(from: 65_535, host: "127.0.0.1") == 65_535)
        #expect(Server.freePort(from: 61_200, host: "192.0.2.1") == 61_200)
    }
}
