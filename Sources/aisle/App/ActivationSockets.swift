internal import FoundationEssentials
internal import Glibc

/// The listening sockets that systemd passes to a server (`sd_listen_fds(3)`).
///
/// systemd keeps them open while a server restarts, so that clients wait instead of being refused.
struct ActivationSockets: Equatable {
    /// The descriptor of the first inherited socket.
    static let firstDescriptor: Int32 = 3

    /// The socket for the API and the pages; nil if none was passed.
    private(set) var http: Int32?
    /// The socket of the admin port; nil if none was passed.
    private(set) var admin: Int32?

    /// No sockets.
    init() {}

    /// Returns the sockets that the environment announces for a process; without any, both are nil.
    ///
    /// A single socket needs no name.
    ///
    /// - Throws: `CommandFailure` for a number of sockets, or names, that cannot be used.
    init(environment: [String: String], process: Int32) throws {
        // The variables can be inherited from a parent, to which the sockets belong.
        guard let text = environment["LISTEN_FDS"], environment["LISTEN_PID"] == "\(process)" else { return }
        guard let count = Int32(text), (1...2).contains(count) else {
            throw CommandFailure("LISTEN_FDS must be 1 or 2 (got “\(text)”)", CommandFailure.configuration)
        }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
            .map(String.init)
        if count == 1, names.count == 1, Self.isUnnamed(names[0]) {
            http = Self.firstDescriptor
            return
        }
        guard names.count == count else {
            throw CommandFailure(
                "LISTEN_FDNAMES must name each of the \(count) sockets http or admin (got “\(names.joined(separator: ":"))”)",
                CommandFailure.configuration
            )
        }
        for (name, descriptor) in zip(names, Self.firstDescriptor...) {
            switch name {
            case "http" where http == nil: http = descriptor
            case "admin" where admin == nil: admin = descriptor
            default:
                throw CommandFailure(
                    "FileDescriptorName of a socket must be http or admin, each once (got “\(name)”)",
                    CommandFailure.configuration
                )
            }
        }
    }

    /// Whether a name is one that systemd gives to a socket without `FileDescriptorName`.
    private static func isUnnamed(_ name: String) -> Bool {
        name.isEmpty || name == "unknown" || name.hasSuffix(".socket")
    }

    /// Takes the sockets that were passed to this process, and hides them from its children.
    ///
    /// - Throws: `CommandFailure` for descriptors that are not listening sockets of streams.
    static func take() throws -> ActivationSockets {
        let sockets = try ActivationSockets(environment: ProcessInfo.processInfo.environment, process: getpid())
        for variable in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] { unsetenv(variable) }
        for descriptor in [sockets.http, sockets.admin].compactMap({ $0 }) {
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, option(SO_ACCEPTCONN, of: descriptor) == 1,
                option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
            else {
                throw CommandFailure(
                    "descriptor \(descriptor) of LISTEN_FDS is not a listening stream socket; set ListenStream, and Accept=no",
                    CommandFailure.configuration
                )
            }
        }
        return sockets
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
    }
}
