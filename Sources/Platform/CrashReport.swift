internal import CPlatform

/// The line that a crashing process writes to stderr: signal, version, build ID and address.
package enum CrashReport {
    /// Installs a handler that reports fatal signals before their default action.
    ///
    /// Call it once, early. It replaces Swift's backtracer, which `SWIFT_BACKTRACE` enables.
    package static func install(version: String) { aisle_report_crashes(version) }

    /// The build ID of the executable in hexadecimal, which its debug symbols have, too; nil if it has none.
    package static let buildID: String? = {
        let text = String(cString: aisle_build_id())
        return text.isEmpty ? nil : text
    }()

    /// Enables reports of stack overflows on the calling thread. It is cheap to call repeatedly.
    package static func prepareThread() { aisle_prepare_thread_for_crashes() }
}
