internal import CPlatform

/// The one line that a dying process leaves on stderr: signal, version, build ID and address.
package enum CrashReport {
    /// Reports fatal signals from now on, and then lets them take their usual course.
    ///
    /// Call it once, early. It replaces Swift's own backtracer, which `SWIFT_BACKTRACE` asks for.
    package static func install(version: String) { aisle_report_crashes(version) }

    /// Lets an exhausted stack of the calling thread be reported too. Cheap to call again.
    package static func prepareThread() { aisle_prepare_thread_for_crashes() }
}
