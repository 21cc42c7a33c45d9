internal import Platform

// The steps of a request that a connection performs.
extension PostgresConnection {
    /// Runs the exchange of one statement, and records it for the current request.
    func measure<T>(
        _ statement: PostgresStatement,
        _ kind: StepRecorder.Step.Kind = .statement,
        _ body: () throws -> T
    ) throws -> T {
        try StepRecorder.measure(kind, names.name(of: statement), failure: PostgresError.kind(of:), body)
    }

    /// Runs the exchange of a script, and records it for the current request.
    func measure<T>(script: String, _ body: () throws -> T) throws -> T {
        try StepRecorder.measure(.statement, StatementNames.command(script), failure: PostgresError.kind(of:), body)
    }
}

extension PreparedCall {
    /// Records the call from one point in time to the next, and returns the latter.
    func record(
        _ recorder: StepRecorder,
        _ names: StatementNames,
        from start: ContinuousClock.Instant,
        failure: (any Error)? = nil
    ) -> ContinuousClock.Instant {
        let end = ContinuousClock.now
        recorder.record(
            .init(
                isPreparation ? .preparation : .statement,
                names.name(of: statement),
                start: start,
                end: end,
                failure: failure.map(PostgresError.kind(of:))
            )
        )
        return end
    }
}

extension PostgresError {
    /// Returns the SQLSTATE of an error; without one, its kind or type.
    static func kind(of error: any Error) -> String {
        guard let error = error as? PostgresError else { return "\(type(of: error))" }
        return error.sqlState?.rawValue ?? error.kind.rawValue
    }
}
