import AisleDiff
import Foundation
import OrderedCollections
import Ordering

/// Measures the CPU time of move diffs in one process, alternating: each kind of input, the kernel as the lower limit,
/// and other libraries. Run it with `make bench`.
@main
struct DiffBench {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "memory", let kind = arguments.dropFirst().first { return MemoryBench.run(kind) }
        let largest = arguments.first.flatMap { Int($0) } ?? 1_000_000
        print("CPU time in ms, medians; moves. “–”: would take more than \(Int(timeLimit)) s")
        print(
            row([
                "case", "n", "kernel", "permut.", "ordinals", "ids", "strings", "stdlib", "OrdSet", "moves", "stdlib's",
            ])
        )
        for kind in Kind.allCases {
            var slow: [String: Double] = [:]
            var count = 1000
            while count <= largest {
                measure(kind, count, &slow)
                count *= 10
            }
        }
        WireBench.run()
    }

    /// The time limit of one measurement of another library, in seconds.
    static let timeLimit = 10.0

    enum Kind: String, CaseIterable {
        case random, correlated
        case frontToBack = "front to back"
        case onePercent = "1 % moved"
        case mixed = "5/5/5 %"
        case reversed, identical

        func lists(_ count: Int) -> ([Int], [Int]) {
            var random = SeededGenerator(seed: 42)
            let old = Array(0..<count)
            var new = old
            switch self {
            case .random: new.shuffle(using: &random)
            case .correlated:
                // Like price and unit price: each product moves by at most a tenth of the list.
                let keys = old.map { Double($0) + Double.random(in: 0..<Double(count) / 10, using: &random) }
                new.sort { keys[$0] < keys[$1] }
            case .frontToBack: new = Array(old.dropFirst()) + old.prefix(1)
            case .onePercent: new = Self.moving(old, count / 100, &random)
            case .mixed:
                let removed = Set((0..<count / 20).map { _ in Int.random(in: 0..<count, using: &random) })
                new = Self.moving(old.filter { !removed.contains($0) }, count / 20, &random)
                new.append(contentsOf: count..<(count + count / 20))
                new = Self.moving(new, 0, &random)
            case .reversed: new.reverse()
            case .identical: break
            }
            return (old, new)
        }

        /// Moves a number of random elements, in linear time.
        private static func moving(_ list: [Int], _ moves: Int, _ random: inout SeededGenerator) -> [Int] {
            var keys = list.indices.map { Double($0) }
            for _ in 0..<moves {
                keys[Int.random(in: list.indices, using: &random)] = Double.random(
                    in: 0..<Double(list.count),
                    using: &random
                )
            }
            return list.indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { list[$0] }
        }
    }

    private static func measure(_ kind: Kind, _ count: Int, _ slow: inout [String: Double]) {
        let (old, new) = kind.lists(count)
        let (old32, new32) = (old.map { Int32($0) }, new.map { Int32($0) })
        let (oldText, newText) = (old.map { "sku-\($0)" }, new.map { "sku-\($0)" })
        // The kernel's input: the old index of each new element.
        let isPermutation = old.count == new.count && kind != .mixed
        let map = isPermutation ? new32 : new32.map { $0 < Int32(count) ? $0 : -1 }
        let (oldSet, newSet) = (OrderedSet(old), OrderedSet(new))
        var times: [String: [Double]] = [:]
        var stdlibMoves: Int?
        let rounds = count >= 1_000_000 ? 5 : 7
        func time(_ name: String, isOurs: Bool = true, _ body: () -> Void) {
            // Other libraries are quadratic: ten times the elements take a hundred times as long.
            guard isOurs || slow[name, default: 0] * 100 < timeLimit else { return }
            let start = cpu()
            body()
            times[name, default: []].append(cpu() - start)
            if !isOurs { slow[name] = cpu() - start }
        }
        for round in 0..<rounds {
            time("kernel") { kernel(map) }
            if isPermutation { time("permutation") { consume(MoveDiff(permutation: new32)) } }
            time("ordinals") { consume(MoveDiff(fromOrdinals: old32, to: new32, limit: count + count / 20 + 1)) }
            time("ids") { consume(MoveDiff(from: old, to: new)) }
            time("strings") { consume(MoveDiff(from: oldText, to: newText)) }
            guard round == 0 else { continue }
            time("stdlib", isOurs: false) {
                let difference = new.difference(from: old).inferringMoves()
                stdlibMoves = difference.insertions.count { if case .insert(_, _, .some) = $0 { true } else { false } }
            }
            time("OrderedSet", isOurs: false) { _ = newSet.difference(from: oldSet).inferringMoves().count }
        }
        let diff = MoveDiff(from: old, to: new)
        func text(_ name: String) -> String {
            times[name].map { String(format: "%.3f", $0.sorted()[$0.count / 2] * 1000) } ?? "–"
        }
        print(
            row(
                [
                    kind.rawValue, "\(count)", text("kernel"), text("permutation"), text("ordinals"), text("ids"),
                    text("strings"), text("stdlib"), text("OrderedSet"), "\(diff.moves.count)",
                    stdlibMoves.map { "\($0)" } ?? "–",
                ]
            )
        )
    }

    private static func kernel(_ map: [Int32]) {
        let ranks = UnsafeMutablePointer<Int32>.allocate(capacity: map.count + 1)
        let tops = UnsafeMutablePointer<Int32>.allocate(capacity: map.count + 1)
        defer {
            ranks.deallocate()
            tops.deallocate()
        }
        map.withUnsafeBufferPointer { map in
            let piles = PatiencePiles.sort(map.baseAddress!, map.count, ranks: ranks, tops: tops) { () throws(Never) in
            }
            sink = sink &+ piles
        }
    }

    /// A sink for results, so that the compiler cannot remove the work.
    nonisolated(unsafe) static var sink = 0
    static func consume(_ diff: MoveDiff) { sink = sink &+ diff.moves.count }

    static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    static func row(_ cells: [String]) -> String {
        cells.enumerated().map { index, cell in
            let width = index == 0 ? 14 : 10
            let gap = String(repeating: " ", count: max(1, width - cell.count))
            return index == 0 ? cell + gap : gap + cell
        }.joined()
    }
}
