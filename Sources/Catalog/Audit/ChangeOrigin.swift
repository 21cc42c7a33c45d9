/// The origin of a change: who makes it, from where, and by which token.
package struct ChangeOrigin: Sendable, Hashable {
    /// The interface through which a change is made.
    package enum Source: String, CaseIterable, Sendable, Hashable {
        /// The HTTP API.
        case api
        /// A command.
        case commandLine = "cli"
        /// The background work of a server.
        case server
    }

    package var source: Source
    /// The subject of the token, or the operating-system user of a command.
    package var actor: String
    /// The address of the client, or the host of a command; nil if it is unknown.
    package var address: String?
    /// The id of the token, or a hash of it; nil without a token.
    package var token: String?
    package var requestID: String?

    package init(
        source: Source,
        actor: String,
        address: String? = nil,
        token: String? = nil,
        requestID: String? = nil
    ) {
        self.source = source
        self.actor = actor
        self.address = address
        self.token = token
        self.requestID = requestID
    }

    /// The origin of a server's background work.
    package static let server = ChangeOrigin(source: .server, actor: "aisle")

    /// The origin of the changes of the current task.
    package static var current: ChangeOrigin { StorageContext.current.origin }

    /// Runs work whose changes have this origin.
    package func run<T>(_ body: () async throws -> T) async rethrows -> T {
        var context = StorageContext.current
        context.origin = self
        return try await context.run(body)
    }
}
