internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

/// The command line options of a server.
struct ServerOptions: ParsableArguments {
    @Option(help: "The address to listen on (AISLE_HOST; default 127.0.0.1).")
    var host: String?
    @Option(parsing: .unconditional, help: "The port to listen on, 0 for any free port (AISLE_PORT; default 8080).")
    var port: Int?
    @Option(help: "A JSON file with settings (AISLE_CONFIG; aisle.json if it exists).")
    var config: String?

    func settings() async throws -> ServerSettings { try await ServerSettings(self) }
}
