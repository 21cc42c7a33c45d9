internal import CPlatform
internal import FoundationEssentials
internal import Glibc

/// The memory that this process may use.
package enum MemoryLimit {
    /// The smallest of the machine's memory and the limits of the process's control groups, in bytes.
    package static func bytes() -> Int {
        let physical = Int(sysconf(Int32(_SC_PHYS_PAGES))) * Int(sysconf(Int32(_SC_PAGESIZE)))
        return bytes(physical: physical) { path in try? String(contentsOfFile: path, encoding: .utf8) }
    }

    /// - Parameters:
    ///   - physical: the machine's memory, in bytes.
    ///   - read: returns the text of a file; nil if it cannot be read.
    static func bytes(physical: Int, _ read: (String) -> String?) -> Int {
        var limits = [physical]
        for line in (read("/proc/self/cgroup") ?? "").split(separator: "\n") {
            // Version 2 has one hierarchy, "0::/path"; version 1 one for each controller, "4:memory:/path".
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].hasPrefix("/") else { continue }
            let controllers = fields[1].split(separator: ",")
            let files: (root: String, name: String)? =
                if fields[1].isEmpty {
                    ("/sys/fs/cgroup", "memory.max")
                } else if controllers.contains("memory") {
                    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
                } else { nil }
            guard let files else { continue }
            // Each group has its own limit, and those of the groups around it. In a container, only the root may be visible.
            var names = fields[2].split(separator: "/")
            while true {
                let folder = ([files.root] + names.map(String.init)).joined(separator: "/")
                if let text = read("\(folder)/\(files.name)"), let limit = Int(text.filter { !$0.isWhitespace }) {
                    limits.append(limit)
                }
                if names.popLast() == nil { break }
            }
        }
        return limits.filter { $0 > 0 }.min() ?? physical
    }
}

/// The parts of the heap from which threads allocate memory.
package enum MemoryArenas {
    /// Limits their number, unless MALLOC_ARENA_MAX is set. Call it before the first thread starts.
    ///
    /// By default, glibc gives almost every thread an arena of its own. One thread allocates an entry of a cache, and another frees it. So
    /// each arena keeps unused memory between the remaining entries.
    package static func limit(_ count: Int) { aisle_limit_arenas(Int32(clamping: count)) }
}
