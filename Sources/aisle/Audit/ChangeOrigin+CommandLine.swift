internal import Catalog
internal import FoundationEssentials

extension ChangeOrigin {
    /// The origin of the changes of a command: the operating-system user on this host.
    static let commandLine: ChangeOrigin = {
        let process = ProcessInfo.processInfo
        let user = process.userName
        return ChangeOrigin(source: .commandLine, actor: user.isEmpty ? "unknown" : user, address: process.hostName)
    }()
}
