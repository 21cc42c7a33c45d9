import AisleDiff
import Foundation
import Ordering

/// The peak memory of one diff of a million shuffled elements, without its input. It needs its own process, because the
/// system reports only the peak of a whole process. Run it with `MALLOC_MMAP_THRESHOLD_=65536`, so that every
/// large block is mapped and unmapped, and none is reused.
enum MemoryBench {
    static func run(_ kind: String) {
        let count = 1_000_000
        var random = SeededGenerator(seed: 1)
        let old = Array(0..<count)
        let new = old.shuffled(using: &random)
        let (old32, new32) = (old.map { Int32($0) }, new.map { Int32($0) })
        // Warm up: the first call allocates.
        _ = residentBytes("VmRSS")
        resetPeak()
        let before = residentBytes("VmRSS")
        let diff = kind == "ids" ? MoveDiff(from: old, to: new) : MoveDiff(fromOrdinals: old32, to: new32, limit: count)
        let peak = withExtendedLifetime((old, new, old32, new32)) { residentBytes("VmHWM") - before }
        DiffBench.consume(diff)
        print("peak memory by \(kind): \(String(format: "%.1f", Double(peak) / Double(count))) bytes per element")
    }

    private static func residentBytes(_ field: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }

    /// Source: proc(5), `clear_refs`, 5.
    private static func resetPeak() {
        try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    }
}

/// The sizes of messages in the wire format.
enum WireBench {
    static func run() {
        let count = 100_000
        var random = SeededGenerator(seed: 3)
        let old = Array(0..<count)
        var one = old
        one.insert(one.remove(at: 70_000), at: 10)
        let cases: [(String, [Int])] = [
            ("one moved", one), ("1 % moved", DiffBench.Kind.onePercent.lists(count).1),
            ("rotated", Array(old[40_000...] + old[..<40_000])),
            ("reversed", old.reversed()), ("shuffled", old.shuffled(using: &random)),
        ]
        print("wire format of 100,000 elements, bytes; encoding and decoding, ms of CPU time")
        for (name, new) in cases {
            let diff = MoveDiff(from: old, to: new)
            let message = ShelfDiff<NoProduct>(content: .moves(diff, inserts: []))
            let start = DiffBench.cpu()
            let bytes = message.wireForm()!
            let middle = DiffBench.cpu()
            guard case .moves(let read, _)? = try? ShelfDiff<NoProduct>(wireForm: bytes).content, read == diff else {
                fatalError("the wire format does not round-trip")
            }
            let end = DiffBench.cpu()
            let times = [middle - start, end - middle].map { String(format: "%.2f", $0 * 1000) }
            print(DiffBench.row([name, "\(bytes.count)"] + times))
        }
    }
}
