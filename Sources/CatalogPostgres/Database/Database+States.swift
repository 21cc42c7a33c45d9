package import Catalog
internal import LibPQ

/// States that clients have seen: the token of a state is a log position of the primary.
extension Database: StateSource {
    package func token(including tokens: [StateToken]) -> StateToken? {
        let logPositions = tokens.compactMap { LogPosition($0) }
        guard let first = logPositions.first, logPositions.count == tokens.count else { return nil }
        if tokens.count == 1 { return tokens[0] }
        return logPositions.dropFirst().reduce(first) { $0.including($1) }.token
    }

    package func performReads<T>(after token: StateToken?, _ body: () async throws -> T) async throws -> T {
        guard router.replicas != nil else { return try await body() }
        let logPosition = token.map { LogPosition($0) ?? .unknown }
        return try await StateContext.$current.withValue(.including(logPosition), operation: body)
    }

    package func performWrites<T>(
        _ body: (_ token: @Sendable () async -> StateToken) async throws -> T
    ) async throws -> T {
        let recorder = LogPositionRecorder()
        return try await StateContext.$current.withValue(.recording(recorder)) {
            try await body {
                if let logPosition = recorder.logPosition { return logPosition.token }
                // No replica is known to have an unknown log position, so the primary answers.
                return await ((try? self.logPosition()) ?? .unknown).token
            }
        }
    }

    /// Returns the current log position of the primary, which includes everything that was committed before the call.
    func logPosition() async throws(CatalogError) -> LogPosition {
        try await mappingErrors {
            let found: LogPosition? = try await router.shortReads.read(
                [PostgresQuery(LogPositionStatements.current)],
                into: nil
            ) {
                $0 = try LogPositionStatements.position($2)
                _ = $1
            }
            guard let found else { throw CatalogError.readOnly }
            return found
        }
    }
}
