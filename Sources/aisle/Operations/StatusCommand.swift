internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import WebClient

struct StatusCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a running server.",
        discussion: """
            Reads the server's admin port, AISLE_ADMIN_PORT. Exit code 0 means that the server is ready for reads and writes, 1 that \
            it is not, and 69 that no server answers.
            """
    )

    @Option(help: "The address of the admin port.") var url = "http://127.0.0.1:\(ServerSettings.usualAdminPort)"
    @Option(help: "text or json.") var format: ReportFormat = .text

    func execute() async throws {
        let response: HTTPFetchResponse
        do {
            let base = url.hasSuffix("/") ? String(url.dropLast()) : url
            response = try await HTTPClient.shared.send(HTTPFetch("GET", base + "/status", timeout: .seconds(5)))
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
        case .json: print(state.text)
        case .text: for line in StatusReport(state).lines { print(line) }
        }
        guard state["ready"]?["reads"] == .bool(true), state["ready"]?["writes"] == .bool(true) else {
            throw ExitCode(CommandFailure.failed)
        }
    }
}
