import LibPQ
import Testing
import TestSupport

/// The parts of an error that the server reports.
@Suite(.timeLimit(.minutes(15))) struct ServerErrorTests {
    @Test("An error has the message, state and constraint of the server, without the detail that quotes a row")
    func parts() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        try await connection.perform {
            try $0.run(
                script: "CREATE TEMP TABLE own (name text CONSTRAINT own_name UNIQUE); INSERT INTO own VALUES ('ann')"
            )
        }
        let repeated = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.execute("INSERT INTO own VALUES ('ann')") }
        }
        #expect(
            repeated?.kind == .server && repeated?.sqlState?.rawValue == "23505" && repeated?.constraint == "own_name"
        )
        #expect(repeated?.message == #"duplicate key value violates unique constraint "own_name""#)
        let division = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.execute("SELECT 1 / 0") }
        }
        #expect(division?.message == "division by zero" && division?.constraint == nil)
        #expect(division?.sqlState?.rawValue == "22012")
        await connection.close()
    }
}
