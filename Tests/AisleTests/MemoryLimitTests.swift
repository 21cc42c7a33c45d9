import Testing

@testable import Platform

/// The memory that a process may use.
@Suite struct MemoryLimitTests {
    private static func limit(_ files: [String: String]) -> Int {
        MemoryLimit.bytes(physical: 16 << 30) { files[$0] }
    }

    @Test("Without a control group, the limit is the machine's memory")
    func machine() {
        #expect(Self.limit([:]) == 16 << 30)
        #expect(Self.limit(["/proc/self/cgroup": "garbage\n::\n0::relative\n"]) == 16 << 30)
        #expect(MemoryLimit.bytes() > 64 << 20)
    }

    @Test("The smallest limit of the group and of those around it counts")
    func version2() {
        var files = [
            "/proc/self/cgroup": "0::/system.slice/aisle.service\n",
            "/sys/fs/cgroup/system.slice/aisle.service/memory.max": "max\n",
        ]
        #expect(Self.limit(files) == 16 << 30)
        files["/sys/fs/cgroup/system.slice/aisle.service/memory.max"] = "1073741824\n"
        #expect(Self.limit(files) == 1 << 30)
        files["/sys/fs/cgroup/system.slice/memory.max"] = "536870912\n"
        #expect(Self.limit(files) == 512 << 20)
        files["/sys/fs/cgroup/memory.max"] = "268435456\n"
        #expect(Self.limit(files) == 256 << 20)
    }

    @Test("A container sees its limit at the root")
    func container() {
        let files = ["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "104857600\n"]
        #expect(Self.limit(files) == 100 << 20)
    }

    @Test("Version 1 has the limit in the hierarchy of the memory controller")
    func version1() {
        let files = [
            "/proc/self/cgroup": "5:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n",
            "/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "209715200\n",
        ]
        #expect(Self.limit(files) == 200 << 20)
    }
}
