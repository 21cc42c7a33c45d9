import Platform
import Testing

@testable import aisle

/// The formats of tables, and the output of the console.
@Suite struct TableTests {
    private static let table: Table = {
        var table = Table(columns: [.init(title: "name"), .init(title: "count", isNumber: true), .init(title: "note")])
        table.rows = [["Milk, 1 l", "7", "a\tb"], ["Ä", nil, nil]]
        return table
    }()

    @Test("Texts with tabs, commas and missing values are written in each format")
    func formats() {
        #expect(Self.table.text(.tsv) == "name\tcount\tnote\nMilk, 1 l\t7\ta b\nÄ\t\t\n")
        #expect(Self.table.text(.csv) == "name,count,note\n\"Milk, 1 l\",7,a\tb\nÄ,,\n")
        let rows = [
            #"{"name":"Milk, 1 l","count":7,"note":"a\tb"}"#, #"{"name":"Ä","count":null,"note":null}"#,
        ]
        #expect(Self.table.text(.json) == "[\(rows.joined(separator: ","))]\n")
        #expect(Self.table.text(.ndjson) == rows.map { $0 + "\n" }.joined())
        var empty = Self.table
        empty.rows = []
        #expect(empty.text(.json) == "[]\n")
        #expect(empty.text(.ndjson) == "")
        #expect(empty.text(.csv) == "name,count,note\n")
        #expect(empty.text(.table) == "name  count  note\n────  ─────  ────\n")
        empty.hasTitles = false
        #expect(empty.text(.tsv) == "" && empty.text(.csv) == "")
    }

    @Test("A table aligns texts to the left and numbers to the right")
    func alignment() {
        var table = Self.table
        table.rows[0][2] = "x"
        #expect(
            table.text(.table)
                == "name       count  note\n─────────  ─────  ────\nMilk, 1 l      7  x   \nÄ              –  –   \n"
        )
    }

    @Test("On a terminal, the widest text is cut until the table fits; numbers and short columns stay whole")
    func width() {
        var table = Table(columns: [.init(title: "a"), .init(title: "b"), .init(title: "n", isNumber: true)])
        let (long, longer) = (String(repeating: "x", count: 14), String(repeating: "y", count: 20))
        table.rows = [[long, longer, "1234567890"]]
        // 14 + 2 + 20 + 2 + 10 letters.
        func row(_ width: Int?) -> String {
            let lines = table.text(.table, width: width).split(separator: "\n").map(String.init)
            return lines.last ?? ""
        }
        #expect(row(nil) == "\(long)  \(longer)  1234567890")
        #expect(row(48) == "\(long)  \(longer)  1234567890")
        #expect(row(47) == "\(long)  \(longer.prefix(18))…  1234567890")
        #expect(row(42) == "\(long)  \(longer.prefix(13))…  1234567890")
        // From 12 letters on, nothing is cut.
        let narrow = "\(long.prefix(11))…  \(longer.prefix(11))…  1234567890"
        #expect(row(38) == narrow)
        #expect(row(37) == narrow)
        #expect(row(1) == narrow)
    }

    @Test("Progress is a line that the next one overwrites, with a bar for a known share, and only on a terminal")
    func progress() {
        func notes(isTerminal: Bool = true, _ body: () -> Void) -> String {
            let record = TerminalRecord(isTerminal: isTerminal)
            TaskContext(terminal: record).run(body)
            return record.notes
        }
        #expect(notes { Console.progress("7 rows") } == "\r\u{1B}[K7 rows")
        #expect(notes { Console.endProgress() } == "\r\u{1B}[K")
        #expect(notes { Console.progress("x", share: nil) } == "\r\u{1B}[Kx")
        let (full, empty) = ("█", "░")
        for (share, done, percent) in [
            (0.0, 0, 0), (0.5, 12, 50), (0.999, 23, 99), (1, 24, 100), (7, 24, 100), (-1, 0, 0),
        ] {
            let bar = String(repeating: full, count: done) + String(repeating: empty, count: 24 - done)
            #expect(notes { Console.progress("x", share: share) } == "\r\u{1B}[K\(bar) \(percent) %  x")
        }
        #expect(notes(isTerminal: false) { Console.progress("x", share: 0.5) } == "")
    }

    @Test("Only yes confirms a question, and only on a terminal")
    func confirmation() {
        func confirms(_ answers: [String], isTerminal: Bool = true) -> Bool {
            TaskContext(terminal: TerminalRecord(isTerminal: isTerminal, answers: answers)).run {
                Console.confirm("really?")
            }
        }
        for answer in ["y", "Y", "yes", "YES"] { #expect(confirms([answer]), "\(answer)") }
        for answers in [["n"], [""], ["yeah"], []] { #expect(!confirms(answers), "\(answers)") }
        #expect(!confirms(["y"], isTerminal: false))
    }

    @Test("A duration has milliseconds")
    func seconds() {
        let seconds = Console.seconds(since: ContinuousClock.now - .milliseconds(1500))
        #expect(seconds >= 1.5 && seconds < 60)
        #expect((seconds * 1000).rounded() / 1000 == seconds)
    }

    @Test("The progress of a re-sort has the speed and the time that is left")
    func resortProgress() {
        #expect(ResortReport.progress(30, of: 100, after: 10) == "30 of 100 shelves, 3/s, 23 s left")
        #expect(ResortReport.progress(2, of: 2, after: 0) == "2 of 2 shelves, 2000/s, 0 s left")
        #expect(ResortReport.progress(1, of: 4, after: 2) == "1 of 4 shelves, 0/s, 6 s left")
    }

    @Test("The distribution of moves has the median, the 95th percentile and the maximum")
    func distribution() {
        #expect(PriceStorm.distribution(of: []) == "nothing moved")
        #expect(
            PriceStorm.distribution(of: [7]) == "moves per shelf and day: median 7, 95th percentile 7, maximum 7"
        )
        #expect(
            PriceStorm.distribution(of: (1...100).shuffled())
                == "moves per shelf and day: median 51, 95th percentile 96, maximum 100"
        )
    }
}
