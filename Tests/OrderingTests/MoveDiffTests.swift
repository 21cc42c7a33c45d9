import Foundation
import Ordering
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct MoveDiffTests {
    private typealias Oracle = MoveDiffOracle

    /// Returns every permutation of every subset of the elements.
    private func arrangements(of elements: [Int], whole: Bool) -> [[Int]] {
        var found: [[Int]] = []
        func extend(_ list: [Int]) {
            if !whole || list.count == elements.count { found.append(list) }
            for element in elements where !list.contains(element) { extend(list + [element]) }
        }
        extend([])
        return found
    }

    @Test("The diff to each permutation is minimal and correct", arguments: 0...8)
    func everyPermutation(_ count: Int) async {
        let old = Array(0..<count)
        let texts = old.map(String.init)
        // The 40,320 permutations of eight elements are for the diff itself; its other forms have those of seven, and random lists.
        let isLargest = count == 8
        for (number, new) in arrangements(of: old, whole: true).enumerated() {
            if number % 64 == 0 { await Task.yield() }
            let diff = MoveDiff(permutation: new.map { Int32($0) })
            if let flaw = Oracle.flawOfUnique(diff, old, new, checksNeighbors: !isLargest) {
                Issue.record("\(flaw) of \(new)")
                return
            }
            guard MoveDiff(from: old, to: new) == diff,
                isLargest || MoveDiff(from: texts, to: new.map { texts[$0] }) == diff
            else {
                Issue.record("the entries differ for \(new)")
                return
            }
        }
    }

    /// Returns where each element of a new list was in the old one, and negative numbers for the others, in order.
    private func places(_ old: [Int], _ new: [Int]) -> [Int] {
        var next = 0
        return new.map { element in
            if let place = old.firstIndex(of: element) { return place }
            next -= 1
            return next
        }
    }

    @Test("The diff of each pair of arrangements of five elements is minimal")
    func everyPairOfArrangementsOfFiveElements() async {
        let lists = arrangements(of: [0, 1, 2, 3, 4], whole: false)
        // A diff has no elements, so one without a flaw has none for the same places of other elements.
        var flawless: [[Int]: MoveDiff] = [:]
        for old in lists {
            await Task.yield()
            for new in lists {
                let diff = MoveDiff(fromOrdinals: old.map { Int32($0) }, to: new.map { Int32($0) }, limit: 5)
                let key = [old.count] + places(old, new)
                if flawless[key] != diff {
                    if let flaw = Oracle.flawOfUnique(diff, old, new) {
                        Issue.record("\(flaw) from \(old) to \(new)")
                        return
                    }
                    flawless[key] = diff
                }
                guard MoveDiff(from: old, to: new) == diff else {
                    Issue.record("the entries differ from \(old) to \(new)")
                    return
                }
            }
        }
    }

    /// Returns a random list and an edited copy of it.
    private func pair(_ random: inout some RandomNumberGenerator) -> ([Int], [Int]) {
        let old = Array((0..<Int.random(in: 0...60, using: &random)).map { $0 * 7 }.shuffled(using: &random))
        var new = old
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            switch Int.random(in: 0...3, using: &random) {
            case 0 where !new.isEmpty: new.remove(at: Int.random(in: 0..<new.count, using: &random))
            case 1:
                new.insert(
                    1000 + new.count * 2 + Int.random(in: 0...1_000_000, using: &random),
                    at: Int.random(in: 0...new.count, using: &random)
                )
            case 2 where Int.random(in: 0...9, using: &random) == 0: new.shuffle(using: &random)
            default:
                guard !new.isEmpty else { continue }
                let element = new.remove(at: Int.random(in: 0..<new.count, using: &random))
                new.insert(element, at: Int.random(in: 0...new.count, using: &random))
            }
        }
        return (old, Array(Set(new)).count == new.count ? new : old)
    }

    @Test("Diffs of random lists agree with an independent oracle")
    func twentyThousandRandomPairs() async {
        var random = SeededGenerator(seed: 20)
        for round in 0..<20_000 {
            if round % 64 == 0 { await Task.yield() }
            let (old, new) = pair(&random)
            if let flaw = Oracle.flawOfUnique(MoveDiff(from: old, to: new), old, new) {
                Issue.record("\(flaw) in round \(round), from \(old) to \(new)")
                return
            }
        }
    }

    @Test("Repeated elements are matched in order")
    func matchesRepeatsInOrder() async {
        var random = SeededGenerator(seed: 3)
        for round in 0..<5000 {
            if round % 64 == 0 { await Task.yield() }
            let old = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...3, using: &random) }
            let new = (0..<Int.random(in: 0...12, using: &random)).map { _ in Int.random(in: 0...3, using: &random) }
            let diff = MoveDiff(from: old, to: new)
            #expect(Oracle.flaw(diff, old, new) == nil, "from \(old) to \(new)")
            #expect(MoveDiff(from: old.map(String.init), to: new.map(String.init)) == diff)
            // As many elements as possible are common, and equal elements keep their order.
            let common = Set(old).reduce(0) { sum, id in sum + min(old.count { $0 == id }, new.count { $0 == id }) }
            #expect(diff.commonCount == common)
        }
    }

    private struct Case: Decodable {
        struct Minimum: Decodable { var moves, deletes, inserts: Int }
        struct ID: Decodable, Hashable, Sendable {
            let text: String
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                text = try (try? container.decode(String.self)) ?? String(container.decode(Int.self))
            }
        }
        var name: String
        var old, new: [ID]
        var least: Minimum
    }

    @Test("Golden diffs are reproduced")
    func goldenCases() throws {
        let url = try #require(Bundle.module.url(forResource: "diff", withExtension: "json", subdirectory: "Cases"))
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: url))
        #expect(cases.count >= 25)
        for golden in cases {
            let diff = MoveDiff(from: golden.old, to: golden.new)
            #expect(Oracle.flaw(diff, golden.old, golden.new) == nil, "\(golden.name)")
            #expect(diff.moves.count == golden.least.moves, "\(golden.name)")
            #expect(diff.deletes.count == golden.least.deletes, "\(golden.name)")
            #expect(diff.inserts.count == golden.least.inserts, "\(golden.name)")
        }
    }

    @Test("Large lists of every kind are diffed correctly")
    func comparesLargeLists() {
        let count = 100_000
        let old = Array(0..<count)
        var random = SeededGenerator(seed: 5)
        let cases: [(String, [Int], Int?)] = [
            ("identical", old, 0), ("reversed", old.reversed(), count - 1),
            ("front to back", Array(old[1...]) + [0], 1),
            ("rotated", Array(old[30_000...] + old[..<30_000]), 30_000),
            ("shuffled", old.shuffled(using: &random), nil),
            ("evens first", old.filter { $0 % 2 == 0 } + old.filter { $0 % 2 == 1 }, nil),
            ("replaced", old.map { $0 + count }, 0),
        ]
        for (name, new, moves) in cases {
            let diff = MoveDiff(from: old, to: new)
            #expect(diff.apply(to: old, inserting: { new[$0] }) == new, "\(name)")
            if let moves { #expect(diff.moves.count == moves, "\(name)") }
            #expect(
                diff.steps().count == diff.deletes.count + diff.inserts.count
                    + diff.steps().count { if case .move = $0 { true } else { false } }
            )
        }
        let same = [Int](repeating: 7, count: count)
        let diff = MoveDiff(from: [1] + same + [2], to: [3] + same.dropLast() + [4])
        #expect(diff.deletes.count == 3)
        #expect(diff.inserts.count == 2)
        #expect(diff.moves.isEmpty)
    }

    @Test("The diff of a window has inserts and deletes at its end")
    func windowHasInsertsAndDeletes() {
        let diff = MoveDiff(from: ["a", "b", "c", "d"], to: ["c", "d", "a", "b"], first: 2)
        #expect(diff.deletes == [0, 1])
        #expect(diff.inserts == [0, 1])
        #expect(diff.moves.isEmpty)
        #expect(diff.newCount == 2)
        #expect(MoveDiff(from: ["a"], to: ["b", "a"], first: 5).inserts == [0])
    }

    @Test("Changed elements are reported separately from moved ones")
    func reportsChangesSeparately() {
        let diff = MoveDiff(from: ["a", "b", "c"], to: ["c", "x", "a"]).marking(changed: [0, 1, 2])
        #expect(diff.changed == [0, 2])
        #expect(diff.moves.count == 1)
    }

    @Test("A long diff can be cancelled")
    func diffCanBeCancelled() {
        struct Cancelled: Error {}
        let old = Array(0..<200_000)
        var asked = 0
        #expect(throws: Cancelled.self) {
            try MoveDiff(from: old, to: old.reversed()) { () throws(Cancelled) in
                asked += 1
                if asked == 3 { throw Cancelled() }
            }
        }
        #expect(asked == 3)
    }

    @Test("Parts that do not form a diff are rejected")
    func rejectsInvalidParts() {
        func flaw(
            _ old: Int,
            _ new: Int,
            _ deletes: [Int32],
            _ inserts: [Int32],
            _ moves: [(Int32, Int32)],
            _ changed: [Int32] = []
        ) -> MoveDiff.Flaw? {
            do throws(MoveDiff.Flaw) {
                _ = try MoveDiff(
                    oldCount: old,
                    newCount: new,
                    deletes: deletes,
                    inserts: inserts,
                    moves: moves.map { .init(from: $0.0, to: $0.1) },
                    changed: changed
                )
                return nil
            } catch {
                return error
            }
        }
        #expect(flaw(3, 3, [], [], [(0, 2)], [1]) == nil)
        #expect(flaw(-1, -1, [], [], []) == .counts)
        #expect(flaw(Int(Int32.max) + 1, Int(Int32.max) + 1, [], [], []) == .counts)
        #expect(flaw(3, 2, [], [], []) == .counts)
        #expect(flaw(2, 2, [0], [0], [(1, 1), (0, 0)]) == .counts)
        for (deletes, inserts, moves, changed) in [
            ([1, 0], [0, 1], [], []), ([0, 0], [0, 1], [], []), ([-1], [0], [], []), ([3], [0], [], []),
            ([0], [3], [], []),
            ([0], [0], [(0, 1)], []), ([0], [0], [(1, 0)], []), ([], [], [(0, 1), (0, 2)], []),
            ([], [], [(0, 1), (1, 1)], []), ([], [], [(0, 2), (1, 0)], []), ([0], [0], [], [0]), ([], [], [], [1, 1]),
        ] as [([Int32], [Int32], [(Int32, Int32)], [Int32])] {
            #expect(flaw(3, 3, deletes, inserts, moves, changed) == .index, "\(deletes) \(inserts) \(moves) \(changed)")
        }
    }
}
