import JSON
import Testing

@testable import CatalogImport

/// Cells of attributes that are read once.
@Suite(.timeLimit(.minutes(15))) struct KnownCellsTests {
    private static func cell(
        _ text: String,
        _ kind: FieldForms.Kind = .text,
        declarations: Int = 0
    ) -> KnownCells.Cell {
        KnownCells.Cell(text: text, kind: kind, declarationsID: declarations)
    }

    /// Returns whether a cell is read, because it is not known.
    private static func reads(_ cell: KnownCells.Cell, at attribute: Int = 0, _ known: inout KnownCells) -> Bool {
        var isRead = false
        _ = known.reading(of: cell, at: attribute) {
            isRead = true
            return .empty
        }
        return isRead
    }

    private static func reads(_ text: String, at attribute: Int = 0, _ known: inout KnownCells) -> Bool {
        reads(cell(text), at: attribute, &known)
    }

    @Test("A cell is read again if its attribute, form, declarations or bytes differ from those of known ones")
    func differences() {
        var known = KnownCells()
        let cells = [
            (0, Self.cell("4.5")), (1, Self.cell("4.5")), (0, Self.cell("4.5", .number)),
            (0, Self.cell("4.5", .structure)), (0, Self.cell("4.5", declarations: 1)), (0, Self.cell("é")),
            (0, Self.cell("e\u{301}")), (0, Self.cell("")), (3, Self.cell("4.5")),
        ]
        for isRead in [true, false, false] {
            for (attribute, cell) in cells { #expect(Self.reads(cell, at: attribute, &known) == isRead, "\(cell)") }
        }
    }

    @Test("A known cell states what was read first")
    func readings() throws {
        var known = KnownCells()
        for _ in 0..<2 {
            for text in ["a", "b"] {
                let reading = known.reading(of: Self.cell(text), at: 0) {
                    .value(KnownCells.Value("x", AttributeCells.Value(json: .string(text), wasRounded: text == "b")))
                }
                guard case .value(let value) = reading else {
                    Issue.record("not a value")
                    return
                }
                #expect(value.name == "x" && value.text == text && value.wasRounded == (text == "b"))
                #expect(value.member == #""x":"\#(text)""#)
            }
        }
        let number = KnownCells.Value("a\"b", AttributeCells.Value(json: .number("4.50")))
        #expect(number.text == "4.50" && number.member == #""a\"b":4.50"#)
    }

    @Test("Long texts are not kept")
    func longTexts() {
        var known = KnownCells()
        let text = String(repeating: "é", count: KnownCells.textLimit / 2)
        #expect(Self.reads(text, &known) && !Self.reads(text, &known))
        #expect(Self.reads(text + "x", &known) && Self.reads(text + "x", &known))
    }

    @Test("At the limit, the attribute with the most cells is forgotten, and given up if few of its cells were known")
    func limit() {
        var known = KnownCells(limit: 4)
        for text in ["a", "b", "c"] { #expect(Self.reads(text, &known)) }
        #expect(!Self.reads("a", &known))
        for text in ["a", "b"] { #expect(Self.reads(text, at: 1, &known)) }
        // Only one of four cells of the first attribute was known.
        #expect(Self.reads("a", &known) && Self.reads("a", &known))
        for text in ["a", "b"] { #expect(!Self.reads(text, at: 1, &known)) }
        // The other attribute has all the room now.
        for text in ["c", "d"] { #expect(Self.reads(text, at: 1, &known)) }
        for text in ["a", "b", "c", "d"] { #expect(!Self.reads(text, at: 1, &known)) }
        // Its cells are forgotten, too, but it is not given up.
        for isRead in [true, false] { #expect(Self.reads("e", at: 1, &known) == isRead) }
        for isRead in [true, false] { #expect(Self.reads("a", at: 1, &known) == isRead) }
    }

    @Test("An attribute is kept if a third of its cells were known", arguments: [1, 2])
    func rarelyKnownCells(_ hits: Int) {
        var known = KnownCells(limit: 4)
        for text in ["a", "b", "c", "d"] { #expect(Self.reads(text, &known)) }
        for _ in 0..<hits { #expect(!Self.reads("d", &known)) }
        #expect(Self.reads("e", &known))
        #expect(Self.reads("e", &known) == (hits == 1))
    }
}
