internal import CPlatform
internal import Glibc

/// A child process that inherits only the three given standard streams.
///
/// All other descriptors are closed in the child. Otherwise, a socket that another thread has just accepted would stay
/// open for the lifetime of the child, even after this process has closed it.
package enum ChildProcess {
    /// A standard stream of the child.
    package enum Stream: Sendable {
        /// `/dev/null`.
        case null
        /// An open descriptor of this process.
        case descriptor(Int32)
        /// A file that is created or truncated for writing.
        case file(String)
        /// The same as the child's standard output.
        case standardOutput
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: the program, looked up in `PATH` unless it contains a slash, and its arguments.
    ///   - environment: the environment of the child; nil for a copy of this process's.
    /// - Returns: the process ID, for `waitpid`.
    /// - Throws: `ChildProcessError` if the program cannot be started.
    package static func start(
        _ words: [String],
        environment: [String: String]? = nil,
        input: Stream = .null,
        output: Stream = .null,
        error: Stream = .null
    ) throws(ChildProcessError) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, stream) in [(0, input), (1, output), (2, error)] as [(Int32, Stream)] {
            switch stream {
            case .null: posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            case .descriptor(let own): posix_spawn_file_actions_adddup2(&actions, own, descriptor)
            case .file(let path):
                posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            case .standardOutput: posix_spawn_file_actions_adddup2(&actions, 1, descriptor)
            }
        }
        _ = aisle_close_descriptors_from(&actions, 3)
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { $0.map { strdup("\($0.key)=\($0.value)") } + [nil] }
        defer { for text in arguments + (variables ?? []) { free(text) } }
        var child = pid_t()
        let failure =
            if let variables {
                posix_spawnp(&child, words[0], &actions, nil, arguments, variables)
            } else {
                posix_spawnp(&child, words[0], &actions, nil, arguments, environ)
            }
        guard failure == 0 else { throw ChildProcessError(program: words[0], code: failure) }
        return child
    }
}

/// The error for a program that could not be started.
package struct ChildProcessError: Error, CustomStringConvertible {
    package let program: String
    /// The value of `errno`.
    package let code: Int32

    package var description: String { "cannot start \(program): \(String(cString: strerror(code)))" }
}
