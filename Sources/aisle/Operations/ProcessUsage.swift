internal import FoundationEssentials
internal import Glibc

/// The resources that the process uses now.
///
/// Source: proc(5), `/proc/self/stat`, and clock_gettime(2).
struct ProcessUsage: Sendable, Hashable {
    /// The processor time, in seconds.
    var processorSeconds = 0.0
    var residentBytes = 0
    var virtualBytes = 0
    var openDescriptors = 0
    /// The maximum number of descriptors; nil without a limit.
    var descriptorLimit: Int?

    /// Reads the current usage. Values that the system does not provide are zero.
    static func current() -> ProcessUsage {
        var usage = ProcessUsage()
        var time = timespec()
        if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 {
            usage.processorSeconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        if let data = FileManager.default.contents(atPath: "/proc/self/statm") {
            let pages = String(decoding: data, as: UTF8.self).split(separator: " ").prefix(2).compactMap { Int($0) }
            let size = Int(sysconf(Int32(_SC_PAGESIZE)))
            if pages.count == 2 { (usage.virtualBytes, usage.residentBytes) = (pages[0] * size, pages[1] * size) }
        }
        // The directory itself is open while it is read.
        if let names = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            usage.openDescriptors = max(0, names.count - 1)
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max {
            usage.descriptorLimit = Int(clamping: limit.rlim_cur)
        }
        return usage
    }
}
