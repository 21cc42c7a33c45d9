import CatalogJSON
import Testing

@Suite(.timeLimit(.minutes(15))) struct UnseenSizeTests {
    @Test("Of the sizes of public shops, at most 31 are wrong, and at least 91 are right")
    func scoresUnseenSizes() throws {
        let rows = try UnseenSizes().rows
        #expect(rows.count == 270)
        let verdicts = rows.map { (row: $0, verdict: UnseenSizes.verdict(SizeText.parse($0.text), $0.expected)) }
        #expect(verdicts.count { $0.verdict == .wrong } <= 31)
        #expect(verdicts.count { $0.verdict == .right } >= 91)
    }
}
