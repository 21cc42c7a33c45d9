/// Identifies a state of a storage, in bytes that only the storage understands.
package struct StateToken: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Reads that include what a client has seen: a write returns the token of the state after it, which the client sends with later reads.
package protocol StateSource: Sendable {
    /// Returns the token of a state that includes other states; nil without any, or if one is not a token of this storage.
    func token(including tokens: [StateToken]) -> StateToken?

    /// Runs reads, which may return an earlier state than the current one.
    ///
    /// - Parameter token: the state that they include; nil for any state that is not too old.
    func performReads<T>(after token: StateToken?, _ body: () async throws -> T) async throws -> T

    /// Runs writes.
    ///
    /// - Parameter body: receives a function that returns the token of a state that includes the writes so far.
    func performWrites<T>(_ body: (_ token: @Sendable () async -> StateToken) async throws -> T) async throws -> T
}
