internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import WebClient

struct StatusCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a running server.",
        discussion: """
            Reads the server's admin port, which AISLE_ADMIN_PORT, or the settings file, names. Exit code 0 means that the server is ready for reads and writes, 1 that \
            it is not, and 69 that no server answers.
            """
    )

    @Option(
        help:
            "The address of the admin port (default: that of AISLE_ADMIN_HOST and AISLE_ADMIN_PORT, or http://127.0.0.1:9464)."
    )
    var url: String?
    @OptionGroup var file: SettingsFile
    @Option(help: "text or json.") var format: ReportFormat = .text

    /// Returns the address of the admin port, without a slash at the end.
    private func address() throws -> String {
        if let url { return url.hasSuffix("/") ? String(url.dropLast()) : url }
        let settings = try file.settings()
        guard let address = settings.adminAddress else {
            throw CommandFailure(
                "AISLE_ADMIN_PORT is 0, which is any free port; name the server's port with --url",
                CommandFailure.usage
            )
        }
        return address
    }

    func execute() async throws {
        let response: HTTPFetchResponse
        let url = try address()
        do {
            response = try await HTTPClient.shared.send(HTTPFetch("GET", url + "/status", timeout: .seconds(5)))
        } catch {
            throw CommandFailure(
                "no server answers at \(url) (\(error.description)); start it with AISLE_ADMIN_PORT, and name that port with --url",
                CommandFailure.unavailable
            )
        }
        guard response.status == 200, let state = try? JSONReader.parse(response.body) else {
            throw CommandFailure(
                "\(url) is not the admin port of an aisle server (status \(response.status))",
                CommandFailure.unavailable
            )
        }
        switch format {
        case .json: Console.line(state.text)
        case .text: for line in StatusReport(state).lines { Console.line(line) }
        }
        guard state["ready"]?["reads"] == .bool(true), state["ready"]?["writes"] == .bool(true) else {
            throw ExitCode(CommandFailure.failed)
        }
    }
}
