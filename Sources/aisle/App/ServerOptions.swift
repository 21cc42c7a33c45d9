internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

/// What a server is told on the command line.
struct ServerOptions: ParsableArguments {
    @Option(help: "The address to listen on (AISLE_HOST; default 127.0.0.1).")
    var host: String?
    @Option(help: "The port to listen on, 0 for any that is free (AISLE_PORT; default 8080).")
    var port: Int?
    @Option(help: "A JSON file with settings (AISLE_CONFIG; aisle.json where it is there).")
    var config: String?

    func settings() async throws -> ServerSettings { try await ServerSettings(self) }
}
