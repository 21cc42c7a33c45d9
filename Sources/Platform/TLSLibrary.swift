internal import CPlatform

/// The library that encrypts connections.
package enum TLSLibrary {
    /// Keeps its state until the process has ended. By default it frees it when the process exits, while other threads may still open
    /// connections, and these crash.
    ///
    /// It must be used before the first connection.
    package static let outlivesThreads: Void = aisle_keep_tls_until_exit()
}
