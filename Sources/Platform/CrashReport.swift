internal import CPlatform

/// The line that a crashing process writes to stderr: signal, version, build ID and address.
package enum CrashReport {
    /// Installs a handler that reports fatal signals before their default action.
    ///
    /// Call it once, early. It replaces Swift's backtracer, which `SWIFT_BACKTRACE` enables.
    package static func install(version: String) { aisle_report_crashes(version) }

    /// Enables reports of stack overflows on the calling thread. It is cheap to call repeatedly.
    package static func prepareThread() { aisle_prepare_thread_for_crashes() }
}
