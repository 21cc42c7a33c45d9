/// The context in which the current task uses the storage: the origin of its changes, and the states that it reads.
///
/// It accompanies every operation of the stores without being an argument of it: the dispatch of requests and each command set it once.
package struct StorageContext: Sendable {
    /// The states that reads return, or that writes report.
    package enum States: Sendable {
        /// Reads return the current state.
        case latest
        /// Reads return a state that includes the state of a token; nil for any recent state.
        case including(StateToken?)
        /// Reads return the current state, and an object of the storage records the state after the last write.
        case recording(any AnyObject & Sendable)
    }

    @TaskLocal package static var current = StorageContext()

    package var origin = ChangeOrigin.server
    package var states = States.latest

    /// Runs work with the context.
    package func run<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Self.$current.withValue(self, operation: body)
    }
}
