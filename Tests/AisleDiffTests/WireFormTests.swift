import AisleDiff
import Ordering
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct WireFormTests {
    private typealias Diff = ShelfDiff<NoProduct>

    private func message(_ diff: MoveDiff, versions: (Int64, Int64)? = nil) -> Diff {
        Diff(
            fromVersion: versions?.0,
            toVersion: versions?.1,
            content: .moves(diff, inserts: diff.inserts.map { .init(id: "id \($0)") })
        )
    }

    /// The comparable parts of a message.
    private func parts(_ message: Diff) -> (MoveDiff, [String])? {
        guard case .moves(let diff, let inserts) = message.content else { return nil }
        return (diff, inserts.map(\.id))
    }

    @Test("The documented example has exactly the documented bytes")
    func encodesDocumentedExample() throws {
        let bytes: [UInt8] = [
            0x01, 0x4E, 0x06, 0x2A, 0x00, 0x01, 0x00, 0x00, 0x01, 0x02, 0x00, 0x01, 0x78, 0x02, 0x03, 0x00, 0x0D,
        ]
        let diff = MoveDiff(from: ["a", "b", "c", "d", "e", "f"], to: ["c", "d", "x", "f", "b", "e"])
        let message = Diff(fromVersion: 42, toVersion: 42, content: .moves(diff, inserts: [.init(id: "x")]))
        #expect(message.wireForm() == bytes)
        let read = try Diff(wireForm: bytes)
        #expect(read.fromVersion == 42)
        #expect(read.toVersion == 42)
        #expect(try read.apply(to: ["a", "b", "c", "d", "e", "f"]) == ["c", "d", "x", "f", "b", "e"])
        #expect(throws: ShelfDiffError.otherList) { try read.apply(to: ["a"]) }
    }

    private func lists(_ random: inout SeededGenerator) -> ([Int], [Int]) {
        let old = Array(0..<Int.random(in: 0...80, using: &random))
        var new = old
        switch Int.random(in: 0...4, using: &random) {
        case 0: new.shuffle(using: &random)
        case 1: new.reverse()
        case 2 where old.count > 3:
            let cut = Int.random(in: 0..<old.count, using: &random)
            new = Array(old[cut...] + old[..<cut])
        default:
            for _ in 0..<Int.random(in: 0...4, using: &random) where !new.isEmpty {
                new.insert(new.remove(at: Int.random(in: 0..<new.count, using: &random)), at: 0)
            }
        }
        if Bool.random(using: &random) { new.removeAll { $0 % 5 == 0 } }
        if Bool.random(using: &random) {
            for id in 0..<3 { new.insert(1000 + id, at: Int.random(in: 0...new.count, using: &random)) }
        }
        return (old, new)
    }

    @Test("A diff survives encoding and decoding")
    func roundTrips() async throws {
        var random = SeededGenerator(seed: 9)
        for round in 0..<3000 {
            if round % 64 == 0 { await Task.yield() }
            let (old, new) = lists(&random)
            let changed = (0..<Int32(new.count)).filter { _ in Int.random(in: 0...9, using: &random) == 0 }
            let diff = MoveDiff(from: old, to: new).marking(changed: changed)
            let versions: (Int64, Int64)? =
                round % 2 == 0 ? (Int64(round) + 1, Int64(round) - 3 + Int64(round % 7)) : nil
            for asOrder in [false, true] {
                let bytes = try #require(message(diff, versions: versions).wireForm(asOrder: asOrder))
                let read = try Diff(wireForm: bytes)
                let (readDiff, ids) = try #require(self.parts(read))
                #expect(readDiff == diff)
                #expect(ids == diff.inserts.map { "id \($0)" })
                #expect(read.fromVersion == versions?.0)
                #expect(read.toVersion == versions?.1)
            }
        }
    }

    @Test("Encoded diffs have the documented sizes")
    func sizes() throws {
        let count = 100_000
        let old = Array(0..<count)
        var random = SeededGenerator(seed: 2)
        func size(_ new: [Int]) throws -> Int { try #require(message(MoveDiff(from: old, to: new)).wireForm()).count }
        var one = old
        one.insert(one.remove(at: 99_998), at: 3)
        #expect(try size(one) <= 16)
        #expect(try size(old.reversed()) <= 16)
        for cut in [1, 777, 50_000, 99_999] { #expect(try size(Array(old[cut...] + old[..<cut])) <= 16) }
        #expect(try size(old.shuffled(using: &random)) <= 213_000)
        var some = old
        for _ in 0..<1000 {
            some.insert(
                some.remove(at: Int.random(in: 0..<count, using: &random)),
                at: Int.random(in: 0..<count, using: &random)
            )
        }
        #expect(try size(some) <= 4200)
        #expect(try size(old) <= 6)
    }

    @Test("Bytes that are not a message are rejected")
    func rejectsInvalidBytes() {
        func error(_ bytes: [UInt8], limit: Int = 1_000_000) -> ShelfDiffError? {
            do throws(ShelfDiffError) { _ = try Diff(wireForm: bytes, limit: limit) } catch { return error }
            return nil
        }
        #expect(error([1, 0, 3]) == nil)
        #expect(error([]) == .malformed)
        #expect(error([2, 0, 3]) == .unknownVersion(2))
        #expect(error([1, 0]) == .malformed)
        #expect(error([1, 0, 3, 0]) == .malformed)
        #expect(error([1, 0, 0x83, 0]) == .malformed)
        #expect(error([1, 0x80, 2, 3]) == .malformed)
        #expect(error([1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F]) == .tooLong(4_294_967_295))
        #expect(error([1, 0, 101], limit: 100) == .tooLong(101))
        #expect(error([1, 0] + [UInt8](repeating: 0xFF, count: 12)) == .malformed)
        // A million deletes from a list of three; overlapping ranges cannot be encoded.
        #expect(error([1, 2, 3, 0xC0, 0x84, 0x3D, 0, 0]) == .malformed)
        #expect(error([1, 2, 3, 1, 0, 3]) == .malformed)
        #expect(error([1, 1, 3, 2]) == .flaw(.counts))
        #expect(error([1, 0x28, 2, 0, 0]) == .malformed)
        // Two single moves from the same place; a run beyond the end; a packed order with a repeat.
        #expect(error([1, 8, 4, 2, 0, 0, 0b0101]) == .flaw(.index))
        #expect(error([1, 16, 4, 1, 0, 2, 0]) == .malformed)
        #expect(error([1, 16, 4, 1, 0, 0, 0xFF, 0xFF, 0x3F]) == .malformed)
        #expect(error([1, 32, 2, 0b00]) == .flaw(.index))
        #expect(error([1, 32, 2, 0b110]) == .malformed)
        // An id that is not UTF-8, and a truncated one.
        #expect(error([1, 5, 0, 1, 1, 0, 0, 1, 0xFF]) == .malformed)
        #expect(error([1, 5, 0, 1, 1, 0, 0, 9, 0x41]) == .malformed)
    }

    @Test("Mutated messages never trap, and every decoded message is a valid diff")
    func mutatedMessagesNeverTrap() async throws {
        var random = SeededGenerator(seed: 77)
        var accepted = 0
        var message: [UInt8] = []
        for round in 0..<30_000 {
            if round % 64 == 0 { await Task.yield() }
            // Each message is mutated in five ways.
            if round % 5 == 0 {
                let (old, new) = lists(&random)
                let asOrder = Int.random(in: 0...3, using: &random) == 0
                message = try #require(self.message(MoveDiff(from: old, to: new)).wireForm(asOrder: asOrder))
            }
            var bytes = message
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...3, using: &random) {
                case 0: bytes[at] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
                case 2: bytes.remove(at: at)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: at)
                }
            }
            guard let read = try? Diff(wireForm: bytes, limit: 5000), let (diff, ids) = parts(read) else { continue }
            accepted += 1
            let list = Array(0..<diff.oldCount)
            #expect(diff.inserts.count == ids.count)
            let result = diff.apply(to: list) { -$0 - 1 }
            #expect(result.count == diff.newCount)
            #expect(Set(result).count == result.count)
        }
        #expect(accepted > 100)
    }
}
