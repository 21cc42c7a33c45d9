internal import CPlatform

/// The library that encrypts connections.
package enum TLSLibrary {
    /// Makes the library keep its state until the process has ended. By default, the library frees the state at the exit of the
    /// process. Then threads that still open connections crash.
    ///
    /// Use this value before the first connection.
    package static let outlivesThreads: Void = aisle_keep_tls_until_exit()
}
