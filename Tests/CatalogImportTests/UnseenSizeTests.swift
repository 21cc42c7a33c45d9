import Catalog
import CatalogJSON
import Testing

@Suite(.timeLimit(.minutes(15))) struct UnseenSizeTests {
    @Test("Of the sizes of public shops, none is wrong, and at least 85 % are right")
    func scoresUnseenSizes() throws {
        let rows = try UnseenSizes().rows
        #expect(rows.count == 270)
        var right = 0
        for row in rows {
            switch UnseenSizes.verdict(row.parsed, row.expected) {
            case .right: right += 1
            case .unknown: break
            case .wrong: Issue.record("\(row.text) is parsed as \(String(describing: row.parsed))")
            }
        }
        #expect(right * 100 >= rows.count * 85, "\(right) of \(rows.count) are right")
    }
}
