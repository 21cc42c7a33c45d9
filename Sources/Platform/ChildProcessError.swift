internal import Glibc

/// The error for a program that could not be started.
package struct ChildProcessError: Error, CustomStringConvertible {
    package let program: String
    /// The value of `errno`.
    package let code: Int32

    package var description: String { "cannot start \(program): \(String(cString: strerror(code)))" }
}
