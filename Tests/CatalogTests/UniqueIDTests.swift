import Catalog
import Foundation
import Testing

@Suite struct UniqueIDTests {
    @Test("Random ids are distinct UUIDs of version 4")
    func randomIDsAreUUIDs() throws {
        let ids = (0..<10_000).map { _ in UniqueID.random() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            let uuid = try #require(UUID(uuidString: id.text))
            #expect(uuid.uuidString.lowercased() == id.text)
            #expect(uuid.uuid.6 >> 4 == 4)
            #expect(uuid.uuid.8 >> 6 == 2)
        }
    }

    @Test("Hexadecimal digits are in lower case, two for each byte")
    func digitsAreInLowerCase() {
        #expect([UInt8]().hexadecimal == "")
        #expect((0...255).map { UInt8($0) }.hexadecimal == (0...255).map { String(format: "%02x", $0) }.joined())
    }

    @Test("Any number of random bytes is returned", arguments: [0, 1, 7, 8, 9, 32])
    func randomBytesHaveTheirNumber(count: Int) {
        #expect([UInt8].random(count).count == count)
    }
}
