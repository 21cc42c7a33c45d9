import Catalog
import LibPQ
import Ordering
import Testing

@testable import CatalogPostgres

/// The texts and keys that the program writes into the database, without one.
@Suite(.timeLimit(.minutes(15))) struct StoredTextTests {
    // MARK: - COPY

    /// Returns the text of one row.
    private static func row(_ write: (inout CopyText) -> Void) -> String {
        var text = CopyText()
        write(&text)
        text.endRow()
        return String(decoding: text.bytes, as: UTF8.self)
    }

    @Test("Fields are separated by tabs, and special characters are escaped as COPY requires")
    func fields() {
        let found = Self.row {
            $0.field("a\\b\nc\rd\te żó")
            $0.field(nil as String?)
            $0.field("")
            $0.field(-7 as Int?)
            $0.field(nil as Int?)
            $0.field(ExactDecimal("1.50"))
            $0.field(nil as ExactDecimal?)
            $0.field(-Double.infinity)
            $0.field(1.5)
            $0.field(true)
            $0.field(false)
            $0.field(nil as Bool?)
            $0.raw("now()")
        }
        let expected = [
            #"a\\b\nc\rd\te żó"#, "\\N", "", "-7", "\\N", ExactDecimal("1.50")!.description, "\\N", "-Infinity", "1.5",
            "t",
            "f", "\\N", "now()",
        ]
        #expect(found == expected.joined(separator: "\t") + "\n")
    }

    @Test("Bytes are in hexadecimal, and lists of texts are quoted")
    func bytesAndLists() {
        let found = Self.row {
            $0.field(bytes: [0, 9, 10, 15, 16, 159, 160, 255])
            $0.field(bytes: [])
            $0.field([])
            $0.field(["a", "b,\"c\"", "d\\"])
        }
        let expected = [#"\\x00090a0f109fa0ff"#, #"\\x"#, "{}", #"{"a","b,\\"c\\"","d\\\\"}"#]
        #expect(found == expected.joined(separator: "\t") + "\n")
    }

    @Test("The values of columns have the same forms, and a new row begins without a separator")
    func columns() {
        var text = CopyText()
        let values: [PostgresValue] = [
            .bool(true), .int2(1), .int4(2), .int8(3), .float8(4.5), .float8(nil), .text("x"), .text(nil), .jsonb("{}"),
            .bytea([7]), .bytea(nil), .numeric("1.0"), .numeric(nil), .timestamptz(0), .timestamptz(nil),
            .textArray(["a"]),
        ]
        for value in values { text.field(value) }
        text.endRow()
        text.field(1 as Int?)
        text.endRow()
        let time = Timestamp(microseconds: 0).rfc3339
        let expected = [
            "t", "1", "2", "3", "4.5", "\\N", "x", "\\N", "{}", #"\\x07"#, "\\N", "1.0", "\\N", time, "\\N", #"{"a"}"#,
        ]
        #expect(String(decoding: text.bytes, as: UTF8.self) == expected.joined(separator: "\t") + "\n1\n")
        text.removeAll()
        #expect(text.bytes.isEmpty)
    }

    // MARK: - Orders

    @Test("The neighbours of moved products are pairs; an empty one means the front")
    func neighbours() {
        func left(_ text: String) -> [String] {
            ManualOrderEditor.leftNeighbours(text).map { "\($0.id)<\($0.left ?? "front")" }
        }
        #expect(left("a/b/c/") == ["a<b", "c<front"])
        #expect(left("a/") == ["a<front"])
        #expect(left("") == [])
        func new(_ text: String?) -> [String: String?] { ManualOrderEditor.newNeighbours(text, of: 12) }
        let expected: [String: String?] = ["a": "b", "c": nil]
        #expect(new("12/a/b/c/") == expected)
        #expect(new("1/a/b").isEmpty)
        #expect(new("123/a/b").isEmpty)
        #expect(new("12").isEmpty)
        #expect(new(nil).isEmpty)
    }

    @Test("A gap is filled by products in order between its neighbours")
    func gaps() {
        let keys = PathKey.appending(5, after: nil)
        var gap = OrderGap(left: keys[0], right: keys[4], placedLeft: keys[0], placedRight: keys[4], leftNeighbour: nil)
        #expect(gap.isFilled([keys[1], keys[2], keys[3]]))
        #expect(gap.isFilled([keys[2]]))
        #expect(!gap.isFilled([keys[2], keys[1]]))
        #expect(!gap.isFilled([keys[0]]) && !gap.isFilled([keys[4]]))
        #expect(!gap.isFilled([keys[0], keys[1]]) && !gap.isFilled([keys[3], keys[4]]))
        (gap.placedLeft, gap.placedRight) = (nil, nil)
        #expect(gap.isFilled([keys[0]]) && gap.isFilled([keys[4]]))
    }

    @Test("A move asks for the gap at its target, and a position must be resolved first")
    func gapQueries() {
        let scope: [PostgresValue] = [.int4(1), .int4(2)]
        func query(_ target: OrderMove.Target) -> PostgresQuery? {
            OrderGap.query(OrderMove(["x", "y"], target), scope)
        }
        let ids = scope + [.textArray(["x", "y"])]
        #expect(query(.after("a"))?.parameters == ids + [.text("a")])
        #expect(query(.after("a"))?.statement == ManualOrderStatements.right)
        #expect(query(.before("a"))?.parameters == ids + [.text("a")])
        #expect(query(.before("a"))?.statement == ManualOrderStatements.left)
        #expect(query(.first)?.parameters == ids + [.text(nil)])
        #expect(query(.first)?.statement == ManualOrderStatements.right)
        #expect(query(.last)?.parameters == ids + [.text(nil)])
        #expect(query(.last)?.statement == ManualOrderStatements.left)
        #expect(query(.position(3)) == nil)
    }

    // MARK: - Lists and imports

    @Test("Texts have ranks in the order of a language; equal ones are ordered by their bytes")
    func ranks() {
        let ranks = ListWriter.ranks(of: ["b", "a", "Z", "ä"], in: "de")
        #expect(ranks == ["a": 0, "ä": 1, "b": 2, "Z": 3])
        #expect(ListWriter.ranks(of: [], in: "de").isEmpty)
    }

    @Test("The result of an import has the sums of its stores, and not the predicted changes")
    func sums() {
        var summary = ImportSummary()
        summary.read = 100
        (summary.unchanged, summary.updated, summary.inserted) = (1, 9, 9)
        (summary.removedPlacements, summary.removedProducts) = (9, 9)
        (summary.storesCreated, summary.shelvesCreated) = (9, 9)
        summary.clearChanges()
        var outcome = ImportApplication.Outcome()
        (outcome.unchanged, outcome.updated, outcome.inserted) = (2, 3, 4)
        (outcome.removedPlacements, outcome.removedProducts) = (5, 6)
        (outcome.storesCreated, outcome.shelvesCreated) = (7, 8)
        for _ in 0..<2 { summary.add(outcome) }
        #expect(summary.read == 100)
        #expect([summary.unchanged, summary.updated, summary.inserted] == [5, 6, 8])
        #expect([summary.removedPlacements, summary.removedProducts] == [10, 12])
        #expect([summary.storesCreated, summary.shelvesCreated] == [14, 16])
        #expect(outcome.changedCounts.map(\.count) == [4, 3, 5, 6, 7, 8])
        #expect(
            outcome.changedCounts.map(\.name) == [
                "inserted", "updated", "removed_placements", "removed_products", "stores_created", "shelves_created",
            ]
        )
    }

    @Test("An import compares the columns of its file, and writes those that follow from them")
    func writtenColumns() {
        func names(_ columns: Set<ImportColumn>, readsSizeFromName: Bool = false) -> (Set<String>, Set<String>) {
            let written = WrittenColumns(columns, readsSizeFromName: readsSizeFromName)
            return (Set(written.compared.map(\.text)), Set(written.written.map(\.text)))
        }
        let (named, alsoNamed) = names([])
        #expect(named == ["name"])
        #expect(alsoNamed == ["name", "name_key"])
        let (branded, alsoBranded) = names([.brand])
        #expect(branded == ["name", "brand"])
        #expect(alsoBranded == ["name", "name_key", "brand", "brand_key"])
        // A price in promotion is compared with the usual one.
        #expect(names([.promoPrice]).0 == names([.promoPrice, .price]).0)
        #expect(names([.promoPrice]).0.contains("price_minor"))
        #expect(!names([.price]).0.contains("size_amount"))
        #expect(names([], readsSizeFromName: true).0.contains("size_amount"))
        #expect(names([.popularity]).0.contains("popularity_seed"))
        #expect(!names([.popularity]).1.contains("popularity_seed"))
        let both = WrittenColumns([.attributes, .popularity], readsSizeFromName: false)
        #expect(both.hasAttributes && both.hasPopularity)
        let none = WrittenColumns([.brand], readsSizeFromName: false)
        #expect(!none.hasAttributes && !none.hasPopularity)
        #expect(none.row("r").text == "(\(none.compared.map { "r.\($0.text)" }.joined(separator: ", ")))")
    }

    // MARK: - Notices

    @Test("Topics are announced in messages of at most 7000 bytes, and a reader gets them all")
    func topics() {
        let users = (0..<300).map { UserID("user-\($0)-" + String(repeating: "x", count: 90))! }
        let all = Set(users.map { ChangeTopic.user($0) } + [.store(CatalogKey("s")!), .all])
        let payloads = ChangeAnnouncer.payloads(all)
        #expect(payloads.allSatisfy { $0.utf8.count <= 7000 })
        // Each message but the last one has no room for another name.
        #expect(payloads.dropLast().allSatisfy { $0.utf8.count > 7000 - 110 })
        let found = payloads.compactMap { ChangeAnnouncer.topics($0) }
        #expect(found.count == payloads.count)
        #expect(found.reduce(into: Set<ChangeTopic>()) { $0.formUnion($1) } == all)
        #expect(ChangeAnnouncer.payloads([]) == [])
        #expect(ChangeAnnouncer.topics("ssk\nuann\n*") == [.store(CatalogKey("sk")!), .user(UserID("ann")!), .all])
        for text in ["x", "s", "s ", "ua\nq"] { #expect(ChangeAnnouncer.topics(text) == nil, "\(text)") }
    }
}
