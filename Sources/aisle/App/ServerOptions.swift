internal import ArgumentParser

/// The command line options of a server.
struct ServerOptions: ParsableArguments {
    @Option(help: "The address to listen on (AISLE_HOST; default 127.0.0.1).")
    var host: String?
    @Option(parsing: .unconditional, help: "The port to listen on, 0 for any free port (AISLE_PORT; default 8080).")
    var port: Int?
    @OptionGroup var file: SettingsFile

    func settings() throws -> ServerSettings {
        let options = ["host": host, "port": port.map { "\($0)" }]
        return try ServerSettings(options.compactMapValues { $0 }, file: file.config)
    }
}

/// The option that names the settings file.
struct SettingsFile: ParsableArguments {
    @Option(help: "A JSON file with settings (AISLE_CONFIG; aisle.json if it exists).")
    var config: String?

    func settings() throws -> ServerSettings { try ServerSettings(file: config) }
}
