import Catalog
import Foundation
import Testing

@testable import CatalogImport

/// Characters of every encoding, also those that pieces of a file cut.
@Suite struct TextDecoderTests {
    private func decode(
        _ bytes: [UInt8],
        _ encoding: TextEncoding,
        agreeingWith others: [TextEncoding] = [],
        piece: Int = 64
    ) -> [UInt8] {
        var decoder = TextDecoder(encoding, agreeingWith: others)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { decoder.decode($0, into: &text) }
        }
        decoder.end(into: &text)
        return text
    }

    private static let singleByteEncodings: [(TextEncoding, String.Encoding)] = [
        (.windows1250, .windowsCP1250), (.windows1251, .windowsCP1251), (.windows1252, .windowsCP1252),
        (.latin2, .isoLatin2),
    ]

    @Test("Each byte of a single-byte encoding has the character that the system knows")
    func singleBytes() throws {
        for (encoding, other) in Self.singleByteEncodings {
            let upper = try #require(encoding.upperHalf)
            try #require(upper.count == 128)
            for (index, scalar) in upper.enumerated() {
                let byte = UInt8(index + 0x80)
                let known = String(data: Data([byte]), encoding: other)?.unicodeScalars.first
                if let scalar {
                    #expect(scalar == known, "\(encoding) \(byte)")
                    #expect(decode([0x41, byte, 0x42], encoding) == Array("A\(Character(scalar))B".utf8))
                } else {
                    // The system may return a control character for a byte without a character.
                    #expect(known.map { (0x80..<0xA0).contains($0.value) } ?? true, "\(encoding) \(byte)")
                    #expect(decode([0x41, byte, 0x42], encoding) == [0x41, 0xFF, 0x42])
                }
            }
        }
        for encoding in [TextEncoding.utf8, .utf16LittleEndian, .utf16BigEndian] { #expect(encoding.upperHalf == nil) }
    }

    @Test("A byte that has another character in another possible encoding is invalid")
    func disputedBytes() {
        // 0xE4 is ä in all three; 0xE8 is è in Western and č in Central European encodings; 0x8A is missing in ISO 8859-2.
        let bytes: [UInt8] = [0x61, 0xE4, 0xE8, 0x8A]
        #expect(decode(bytes, .windows1252) == Array("aäèŠ".utf8))
        #expect(
            decode(bytes, .windows1252, agreeingWith: [.windows1250]) == Array("aä".utf8) + [0xFF] + Array("Š".utf8)
        )
        #expect(decode(bytes, .windows1250, agreeingWith: [.latin2]) == Array("aäč".utf8) + [0xFF])
        #expect(decode(bytes, .windows1252, agreeingWith: [.windows1250, .latin2]) == Array("aä".utf8) + [0xFF, 0xFF])
        #expect(decode(bytes, .windows1252, agreeingWith: [.utf8]) == Array("aäèŠ".utf8))
    }

    @Test("Only UTF-8 needs no conversion")
    func identity() {
        for encoding in TextEncoding.allCases {
            #expect(TextDecoder(encoding).isIdentity == (encoding == .utf8))
        }
        #expect(decode([0x61, 0xC3, 0xFF], .utf8) == [0x61, 0xC3, 0xFF])
    }

    @Test("UTF-16 is decoded whatever the pieces of the file", arguments: [1, 2, 3, 5, 64])
    func utf16(_ piece: Int) {
        let text = "aČ€\u{FFFF}\u{10000}🍎\u{10FFFF}z\u{D7FF}\u{E000}"
        for (encoding, isLittle) in [(TextEncoding.utf16LittleEndian, true), (.utf16BigEndian, false)] {
            func bytes(_ units: [UInt16]) -> [UInt8] {
                units.flatMap { unit in
                    let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                    return isLittle ? [low, high] : [high, low]
                }
            }
            #expect(decode(bytes(Array(text.utf16)), encoding, piece: piece) == Array(text.utf8))
            for (units, expected) in [
                ([0xD800], [0xFF]), ([0xD800, 0x61], [0xFF, 0x61]), ([0xDC00], [0xFF]),
                ([0xDC00, 0x61], [0xFF, 0x61]),
                ([0xD800, 0xD83C, 0xDF4E], [0xFF, 0xF0, 0x9F, 0x8D, 0x8E]), ([0xDFFF, 0xD800], [0xFF, 0xFF]),
            ] as [([UInt16], [UInt8])] {
                #expect(decode(bytes(units), encoding, piece: piece) == expected, "\(units)")
            }
            // A byte is missing at the end.
            #expect(decode(bytes([0x61]) + [0x62], encoding, piece: piece) == [0x61, 0xFF])
            #expect(decode(bytes([0x61, 0xD800]) + [0x62], encoding, piece: piece) == [0x61, 0xFF])
        }
    }
}
