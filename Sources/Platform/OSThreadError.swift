/// The error for a system that is out of threads.
package struct OSThreadError: Error, CustomStringConvertible {
    package let description: String
}
