import Foundation
import Ordering
import Testing

@Suite(.timeLimit(.minutes(15))) struct PathKeyTests {
    private struct Cases: Decodable {
        struct Example: Decodable {
            let value: Int64
            let hex: String
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                value = try container.decode(Int64.self)
                hex = try container.decode(String.self)
            }
        }
        let codec_examples: [Example]
        let invalid_hex: [String: String]
    }

    private static let cases: Cases = {
        let url = Bundle.module.url(forResource: "pathkey", withExtension: "json", subdirectory: "Cases")!
        return try! JSONDecoder().decode(Cases.self, from: Data(contentsOf: url))
    }()

    @Test("Each golden part survives encoding and decoding")
    func goldenPartsRoundTrip() throws {
        for example in Self.cases.codec_examples {
            #expect(hex(PathKey([example.value]).bytes) == example.hex)
            #expect(try PathKey(bytes: bytes(example.hex)).parts == [example.value])
        }
    }

    @Test("Bytes that are not a key are rejected")
    func rejectsInvalidKeyBytes() {
        for invalid in Self.cases.invalid_hex.keys {
            #expect(throws: PathKeyError.self) { try PathKey(bytes: bytes(invalid)) }
        }
    }

    @Test("Encoded keys compare like their paths")
    func encodedKeysCompareLikePaths() {
        let edges: [Int64] = [
            PathKey.range.lowerBound, -269_488_193, -1_052_737, -1_052_736, -4161, -4160, -65, -64, -1, 0, 1, 63, 64,
            4159, 4160,
            1_052_735, 1_052_736, 269_488_191, 269_488_192, PathKey.range.upperBound,
        ]
        var keys = edges.map { PathKey([$0]) }
        for a in edges { for b in edges { keys.append(PathKey([a, b])) } }
        for a in keys {
            #expect(try! PathKey(bytes: a.bytes) == a)
            for b in keys { #expect(a.bytes.lexicographicallyPrecedes(b.bytes) == (a < b)) }
        }
    }

    @Test("Appended keys are one step apart")
    func appendedKeysAreOneStepApart() {
        #expect(PathKey.appending(3, after: nil).map(\.parts) == [[0], [16], [32]])
        #expect(PathKey.appending(2, after: PathKey([5, 7])).map(\.parts) == [[21], [37]])
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
    private func bytes(_ hex: String) -> [UInt8] {
        stride(from: 0, to: hex.count, by: 2).map { offset in
            let start = hex.index(hex.startIndex, offsetBy: offset)
            return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)!
        }
    }
}
