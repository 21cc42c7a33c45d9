import Catalog
import Foundation
import Testing

@testable import CatalogImport

/// The encoding of a file by its first bytes, at the edges of each rule.
@Suite struct EncodingDetectorTests {
    private func find(_ bytes: [UInt8], isWhole: Bool = true, given: TextEncoding? = nil) -> EncodingDetector.Finding? {
        EncodingDetector.find(bytes, isWhole: isWhole, given: given)
    }

    /// ASCII bytes, of which those at some places are 0.
    private func zeros(_ count: Int, at places: [Int]) -> [UInt8] {
        (0..<count).map { places.contains($0) ? 0 : 0x61 }
    }

    @Test("A byte order mark decides, whatever was given")
    func marks() {
        let marks: [([UInt8], TextEncoding)] = [
            ([0xEF, 0xBB, 0xBF], .utf8), ([0xFF, 0xFE], .utf16LittleEndian), ([0xFE, 0xFF], .utf16BigEndian),
        ]
        for (mark, encoding) in marks {
            for given in [nil, TextEncoding.windows1252] {
                #expect(
                    find(mark + [0x61, 0], given: given)
                        == EncodingDetector.Finding(encoding: encoding, markLength: mark.count)
                )
            }
        }
        #expect(find([0xEF, 0xBB]) != EncodingDetector.Finding(encoding: .utf8))
    }

    @Test("A given encoding is contradicted only by a text that is UTF-8 beyond doubt")
    func givenEncodings() {
        let utf8 = Array("Käse".utf8)
        #expect(find(utf8, given: .windows1252)?.isContradicted == true)
        #expect(find(utf8, given: .utf8)?.isContradicted == false)
        #expect(find(utf8, given: .utf16BigEndian)?.isContradicted == false)
        #expect(find(utf8 + [0xE4], given: .windows1252)?.isContradicted == false)
        #expect(find(Array("Kase".utf8), given: .windows1252)?.isContradicted == false)
        let given = find(utf8 + [0xE4], given: .windows1251)
        #expect(given == EncodingDetector.Finding(encoding: .windows1251))
    }

    @Test("A text is UTF-16 if more than a tenth of its bytes are 0, and nine tenths of these are at one place of two")
    func wideEncodings() {
        #expect(find(zeros(20, at: [1, 3, 5]))?.encoding == .utf16LittleEndian)
        #expect(find(zeros(20, at: [0, 2, 4]))?.encoding == .utf16BigEndian)
        #expect(find(zeros(20, at: [1, 3]))?.encoding == .utf8)
        #expect(find(zeros(20, at: [0, 2]))?.encoding == .utf8)
        #expect(find(zeros(19, at: [1, 3]))?.encoding == .utf16LittleEndian)
        let odd = [1, 3, 5, 7, 9, 11, 13, 15, 17]
        let even = odd.map { $0 - 1 }
        #expect(find(zeros(40, at: odd + [0]))?.encoding == .utf8)
        #expect(find(zeros(40, at: odd + [19, 0]))?.encoding == .utf16LittleEndian)
        #expect(find(zeros(40, at: even + [1]))?.encoding == .utf8)
        #expect(find(zeros(40, at: even + [18, 1]))?.encoding == .utf16BigEndian)
        #expect(find(zeros(20, at: [1, 3, 5]))?.isGuess == false)
    }

    @Test(
        "A sequence of UTF-8 has a first byte of its length, and as many further bytes",
        arguments: [
            ([0xC2, 0x80], true), ([0xDF, 0xBF], true), ([0xE0, 0xA0, 0x80], true), ([0xEF, 0xBF, 0xBF], true),
            ([0xF0, 0x90, 0x80, 0x80], true), ([0xF4, 0x8F, 0xBF, 0xBF], true), ([0x41, 0x7F], true), ([], true),
            ([0xC1, 0x80], false), ([0xC2, 0x41], false), ([0xC2, 0xC0], false), ([0x80], false), ([0xBF], false),
            ([0xE0, 0xA0], false), ([0xE0, 0xA0, 0x41], false), ([0xF0, 0x90, 0x80], false),
            ([0xF5, 0x80, 0x80, 0x80], false), ([0xFF, 0x80], false),
        ] as [([UInt8], Bool)]
    )
    func sequences(_ bytes: [UInt8], _ isUTF8: Bool) {
        #expect((find(bytes)?.encoding == .utf8) == isUTF8)
        if isUTF8 { #expect(find(bytes) == EncodingDetector.Finding(encoding: .utf8)) }
        let isContradicted = find(bytes, given: .latin2)?.isContradicted
        #expect(isContradicted == (isUTF8 && bytes.contains { $0 >= 0x80 }))
    }

    @Test("A sequence that the end of the sample cuts is not a fault; one that the end of the file cuts is")
    func cutSequences() {
        for bytes in [[0x61, 0xC3], [0x61, 0xE2, 0x82], [0x61, 0xF0, 0x9F, 0x8D]] as [[UInt8]] {
            #expect(find(bytes, isWhole: false)?.encoding == .utf8)
            #expect(find(bytes, isWhole: true)?.encoding != .utf8)
            #expect(find(bytes + [0x61], isWhole: false)?.encoding != .utf8)
        }
        // A byte that begins no sequence is a fault anywhere.
        #expect(find([0x61, 0xFF], isWhole: false)?.encoding != .utf8)
    }

    @Test("Four sequences outweigh a fault, and three do not")
    func faultyFiles() {
        let sequences = Array("é à ç".utf8)
        #expect(find(sequences + Array(" ù ".utf8) + [0xE4])?.encoding == .utf8)
        #expect(find(sequences + [0x20, 0xE4])?.encoding != .utf8)
        #expect(find(sequences + Array(" ù è ñ ö ".utf8) + [0xE4, 0x20, 0xE4])?.encoding != .utf8)
        #expect(find(sequences + Array(" ù è ñ ö ü ".utf8) + [0xE4, 0x20, 0xE4])?.encoding == .utf8)
    }

    @Test(
        "A text of a language in a single-byte encoding is read as the language writes it",
        arguments: [
            ("Příliš žluťoučký kůň úpěl ďábelské ódy, čerstvé máslo, tvaroh měkký, šunka", .windowsCP1250),
            ("Hovädzí guláš, čerstvé mäso, ľahká nátierka, sušené slivky, žĺtky, kôpor, tŕnky", .windowsCP1250),
            ("Zażółć gęślą jaźń, świeże bułki, śmietana, żółty ser, pączki, mąka, kiełbasa", .windowsCP1250),
            ("Gyümölcslé, tejföl, sűrített paradicsom, őszibarack, túró, kenyér, zöldség, körte", .windowsCP1250),
            ("Šećer, čokolada, kruh, žitarice, đumbir, mlijeko, ćevapčići, špinat, češnjak", .windowsCP1250),
            ("Öl, Brötchen, Käse, Würstchen, Müsli, süß, Grieß, Äpfel, Gemüsebrühe, Hähnchen", .windowsCP1252),
            ("Piña, jamón, plátano, champiñón, atún, limón, jalapeño, café molido, azúcar", .windowsCP1252),
            ("Pão, feijão, açúcar, maçã, limão, atum, camarão, pêssego, óleo, maionese, chá", .windowsCP1252),
            ("Mjölk, smör, ägg, köttfärs, räkor, gräddfil, knäckebröd, påläggskorv, blåbär", .windowsCP1252),
            ("Молоко, хлеб ржаной, сметана, творог, масло сливочное, яблоки, груша", .windowsCP1251),
            ("Ковбаса, сир, їжа, цукерки, вівсянка, йогурт питний, печиво, олія, ґрунт", .windowsCP1251),
        ] as [(String, String.Encoding)]
    )
    func languages(_ text: String, _ encoding: String.Encoding) throws {
        let data = try #require(text.data(using: encoding))
        let found = try #require(find(Array(data)))
        #expect(found.isGuess)
        #expect(found.markLength == 0)
        #expect(!found.alternatives.contains(found.encoding))
        let candidates = [found.encoding] + found.alternatives
        let names: [String.Encoding: TextEncoding] = [
            .windowsCP1250: .windows1250, .windowsCP1251: .windows1251, .windowsCP1252: .windows1252,
        ]
        #expect(candidates.contains(try #require(names[encoding])))
        // Another encoding is left only if the bytes of the text mean the same in it, or may.
        #expect(candidates.count < 4)
    }

    @Test(
        "A symbol that is common in texts of products is plausible without any letter above ASCII",
        arguments: [("Kinder", 0xAE, ""), ("5 ", 0x80, ""), ("20 ", 0xB0, "C"), ("Jack Daniel", 0x92, "s")]
            as [(String, UInt8, String)]
    )
    func commonSymbols(_ before: String, _ symbol: UInt8, _ after: String) {
        let found = find(Array(before.utf8) + [symbol] + Array(after.utf8))
        #expect(found?.encoding == .windows1252 && found?.alternatives.contains(.windows1250) == true)
    }

    @Test("The natural logarithm is exact to a hundred thousandth")
    func logarithms() {
        for value in [1e-9, 3e-5, 3e-4, 0.001, 0.01, 0.1, 0.25, 0.26, 0.33, 0.49, 0.5, 0.74, 0.9, 0.999, 1, 1.5, 1.999]
        {
            // The series leaves out positive terms, which add up to at most 1.24e-5 for significands below 2.
            let error = log(value) - EncodingDetector.logarithm(value)
            #expect(error > -1e-12 && error < 1.25e-5, "\(value)")
        }
    }
}
