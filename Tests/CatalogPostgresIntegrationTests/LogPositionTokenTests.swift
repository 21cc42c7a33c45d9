import Catalog
import CatalogJSON
import Testing

@testable import CatalogPostgres

@Suite("Tokens of log positions", .timeLimit(.minutes(15))) struct LogPositionTokenTests {
    @Test(
        "A token has the bytes of its log position",
        arguments: [
            LogPosition(cluster: 7_412_345_678_901_234_567, timeline: 1, offset: 0x1_6B37_4A28),
            LogPosition(cluster: -1, timeline: .max, offset: .max), LogPosition.unknown,
        ]
    )
    func tokensRoundTrip(position: LogPosition) {
        #expect(LogPosition(position.token) == position)
        #expect(position.token.bytes.count == 21)
    }

    @Test("A token has the same text in every version of the program")
    func tokenIsFixed() {
        let token = LogPosition(cluster: 1, timeline: 2, offset: 3).token
        #expect(Base64URL.encode(token.bytes) == "AQAAAAAAAAABAAAAAgAAAAAAAAAD")
    }

    @Test(
        "Other texts are not tokens: of another length, version or alphabet, or with a negative offset",
        arguments: [
            "", "x", "AQAAAAAAAAABAAAAAgAAAAAAAAA", "AQAAAAAAAAABAAAAAgAAAAAAAAADAAAA", "AgAAAAAAAAABAAAAAgAAAAAAAAAD",
            "AQAAAAAAAAABAAAAAgAAAAAAAAA=", "AQAAAAAAAAABAAAAAoAAAAAAAAAD", "0/16B374A28",
        ]
    )
    func rejectsOtherTexts(text: String) {
        #expect(Base64URL.decode(text).flatMap { LogPosition(StateToken($0)) } == nil)
    }
}
