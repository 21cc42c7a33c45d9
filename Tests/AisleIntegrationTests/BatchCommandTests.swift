import Foundation
import JSON
import LibPQ
import Platform
import TestSupport
import Testing

@testable import aisle

/// The output of the commands of prices, purchases and re-sorts, and their errors.
@Suite(.timeLimit(.minutes(15))) struct BatchCommandTests {
    /// Fills a shelf with four products, whose prices are 1 to 4.
    private func fill(_ commands: CommandDatabase) async throws {
        let rows = ["a", "b", "c", "d"].enumerated().map { "shop,all,\($1),Product \($1),\($0 + 1),EUR\n" }.joined()
        let file = try commands.file("all.csv", "store,shelf,sku,name,price,currency\n" + rows)
        #expect(await commands.aisle(["import", file, "--create-store"]).code == 0)
    }

    private func order(_ commands: CommandDatabase, _ sort: String) async -> String {
        await commands.aisle(["export", "order", "shop/all", "--by", sort]).output.filter { $0 != "\n" }
    }

    @Test("Prices are set and removed, all or none")
    func setsPrices() async throws {
        try await CommandDatabase.run { commands in
            try await fill(commands)
            let odd = try commands.file("odd.csv", "store,shelf,sku,name\nshop,odd,x=y,Odd\n")
            #expect(await commands.aisle(["import", odd]).code == 0)
            await commands.expect(["prices", "set", "a=9.50", "b=none"], notes: "changed 2, unchanged 0, shelves 1\n")
            await commands.expect(
                ["prices", "set", "a=9.5", "x=y=0.10", "--store", "shop"],
                notes: "changed 1, unchanged 1, shelves 1\n"
            )
            #expect(await order(commands, "price") == "cdab")
            #expect(try await commands.value("SELECT price_minor::text FROM product WHERE sku = 'x=y'") == "10")
            for (pair, message) in [
                ("a", "prices must be SKU=PRICE (got “a”)"), ("=1", "prices must be SKU=PRICE (got “=1”)"),
                ("a=", "“” is not a valid price in EUR, such as 1.99"),
                ("a=0.999", "“0.999” is not a valid price in EUR, such as 1.99"),
                ("a=-1", "“-1” is not a valid price in EUR, such as 1.99"),
            ] {
                await commands.expectFailure(["prices", "set", "c=7", pair], 64, message)
            }
            await commands.expectFailure(
                ["prices", "set", "c=7", "nobody=1"],
                65,
                "the store has no product “nobody”; no price was changed"
            )
            #expect(await order(commands, "price") == "cdab")
            #expect(await commands.aisle(["prices", "set", "c=7", "--store", "shpo"]).code == 66)
        }
    }

    @Test("A replay of days reports the moves of each shelf by each sort, and the warnings of the first reading once")
    func replaysPrices() async throws {
        try await CommandDatabase.run { commands in
            try await fill(commands)
            let days = try commands.file(
                "days.csv",
                """
                date,store,sku,price
                2026-01-01,shop,a,3.00
                2026-01-01,shop,a,5
                2026-01-02,shop,b,6
                2026-01-02,shop,d,0.1041
                2099-01-01,shop,c,9

                """
            )
            let report = commands.path("report.json")
            let run = await commands.aisle(
                ["prices", "import", days, "--replay", "--sorts", "price;-price", "--report", report]
            )
            #expect(run.code == 0, "\(run)")
            #expect(
                run.output == """
                    date\tshelf\tsort\tproducts\tmoved
                    2026-01-01\tshop/all\tprice\t4\t1
                    2026-01-01\tshop/all\t-price\t4\t1
                    2026-01-02\tshop/all\tprice\t4\t2
                    2026-01-02\tshop/all\t-price\t4\t2

                    """
            )
            let notes = run.notes.split(separator: "\n").map(String.init)
            #expect(notes.count == 3, "\(run)")
            #expect(
                notes.first == "warning: lines 2 and 3: two prices for “a” of shop; the last one counts",
                "\(run)"
            )
            let counts = "days 2, changed 3, unchanged 0, rounded 1, prices_future 1, rejected 0 in "
            #expect(notes.dropFirst().first?.hasPrefix(counts) == true, "\(run)")
            #expect(notes.last == "moves per shelf and day: median 2, 95th percentile 2, maximum 2")
            #expect(
                try commands.text(of: "report.json").hasPrefix(
                    #"{"read":5,"days":2,"changed":3,"unchanged":0,"rounded":1,"prices_future":1,"rejected":0,"#
                        + #""dry_run":false,"#
                )
            )
            #expect(await order(commands, "price") == "dcab")

            // Without --replay, the moves are not reported, and the prices of one day are unchanged.
            let one = try commands.file("one.csv", "sku,price\na,5\nb,none\n")
            let plain = await commands.aisle(["prices", "import", one, "--store", "shop"])
            #expect(plain.output == "", "\(plain)")
            let summary = "days 1, changed 1, unchanged 1, rounded 0, prices_future 0, rejected 0 in "
            #expect(plain.notes.hasPrefix(summary) && plain.notes.hasSuffix(" s\n"), "\(plain)")
            #expect(plain.notes.split(separator: "\n").count == 1)

            // No order changes by the same price.
            let same = try commands.file("same.csv", "date,store,sku,price\n2026-01-03,shop,a,5\n")
            let idle = await commands.aisle(["prices", "import", same, "--replay"])
            #expect(idle.output == "date\tshelf\tsort\tproducts\tmoved\n", "\(idle)")
            #expect(idle.notes.hasSuffix("\nnothing moved\n"), "\(idle)")

            // On a terminal, each day is shown.
            let record = TerminalRecord(isTerminal: true)
            let shown = await commands.aisle(["prices", "import", days, "--replay"], on: record)
            for text in ["2026-01-01 checked", "2026-01-02 checked", "2026-01-01 0 prices", "2026-01-02 1 prices"] {
                #expect(shown.notes.contains("\r\u{1B}[K\(text)"), "\(shown)")
            }
            #expect(shown.notes.contains("\r\u{1B}[Kdays 2, "), "\(shown)")
        }
    }

    @Test("Rows of prices that are invalid are rejected with their reasons, once, and saved")
    func rejectsPrices() async throws {
        try await CommandDatabase.run { commands in
            try await fill(commands)
            let file = try commands.file(
                "days.csv",
                """
                date,store,sku,price
                2026-01-03,shop,a,9
                ,shop,b,2
                2026-1-3,shop,c,3
                2026-13-01,shop,d,4
                2026-01-03,Sh op/,a,1
                2026-01-03,other,a,1
                2026-01-03,shop,,1
                2026-01-03,shop,nobody,1

                """
            )
            let rejects = commands.path("rejects.csv")
            let command = ["prices", "import", file, "--replay", "--rejects", rejects]
            let refused = await commands.aisle(command)
            #expect(refused.code == 65)
            #expect(refused.output == "")
            #expect(refused.notes.contains("aisle: 7 of 8 rows were rejected, more than 5 %; nothing was imported"))
            #expect(await order(commands, "price") == "abcd")
            let run = await commands.aisle(command + ["--max-rejects", "87.5%"])
            #expect(run.code == 0, "\(run)")
            let lines = run.notes.split(separator: "\n").map(String.init)
            #expect(
                lines.prefix(7) == [
                    "rejected: line 3, date: is not a date such as 2026-03-01",
                    "rejected: line 4, date: “2026-1-3” is not a date such as 2026-03-01",
                    "rejected: line 5, date: “2026-13-01” is not a date such as 2026-03-01",
                    "rejected: line 6, store: “Sh op/” is not a store key",
                    "rejected: line 7, store: “other” is not an existing store",
                    "rejected: line 8, sku: is missing",
                    "rejected: line 9, sku: “nobody” is not a product of shop",
                ],
                "\(run)"
            )
            #expect(run.notes.contains("days 1, changed 1, unchanged 0, rounded 0, prices_future 0, rejected 7 in "))
            #expect(await order(commands, "price") == "bcda")
            let saved = try commands.text(of: "rejects.csv").split(separator: "\n").map(String.init)
            #expect(
                saved.first == "rejected_line,rejected_column,rejected_value,rejected_reason,date,store,sku,price"
            )
            #expect(saved.count == 8)
            #expect(saved.last == "9,sku,nobody,is not a product of shop,2026-01-03,shop,nobody,1")

            let unsorted = try commands.file("u.csv", "date,sku,price\n2026-01-02,a,1\n2026-01-01,a,2\n")
            await commands.expectFailure(
                ["prices", "import", unsorted, "--store", "shop", "--replay"],
                65,
                "line 3: 2026-01-01 comes after 2026-01-02; sort the file by date"
            )
            await commands.expectFailure(
                ["prices", "import", unsorted, "--store", "shop"],
                65,
                "line 3: the file has several days; use --replay to apply them in sequence"
            )
            #expect(await order(commands, "price") == "bcda")
            let undated = try commands.file("n.csv", "sku,price\na,1\n")
            #expect(await commands.aisle(["prices", "import", undated, "--store", "shop", "--replay"]).code == 65)
            #expect(await commands.aisle(["prices", "import", undated]).code == 65)
            let xml = try commands.file("x.xml", "<a/>")
            await commands.expectFailure(
                ["prices", "import", xml],
                64,
                "XML files can only be imported as products; use CSV or NDJSON"
            )
            for (option, value, message) in [
                ("--max-rejects", "101", "--max-rejects must be a percentage between 0 and 100 (got “101”)"),
                ("--header-line", "0", "--header-line must be between 1 and 1000 (got 0)"),
                ("--header-line", "1001", "--header-line must be between 1 and 1000 (got 1001)"),
                ("--rejects", undated, "--rejects must not be the input file"),
            ] {
                await commands.expectFailure(
                    ["prices", "import", undated, "--store", "shop", option, value],
                    64,
                    message
                )
            }
            #expect(try commands.text(of: "n.csv") == "sku,price\na,1\n")
            let other = try commands.file("other.txt", "\n\nsku;price\nc;7,25\n")
            let dialect = await commands.aisle(
                [
                    "prices", "import", other, "--store", "shop", "--format", "csv", "--separator", "semicolon",
                    "--decimal", "comma", "--header-line", "3", "--encoding", "windows-1252",
                ]
            )
            #expect(dialect.code == 0, "\(dialect)")
            #expect(try await commands.value("SELECT price_minor::text FROM product WHERE sku = 'c'") == "725")
        }
    }

    private static func event(_ number: Int, _ sku: String, at: String, store: String = "shop") -> String {
        "\(store),00000000-0000-4000-8000-00000000\(1000 + number),\(sku),1,\(at),customer \(number)\n"
    }

    @Test("Purchases are counted by what became of them, and reported on a terminal")
    func importsPurchases() async throws {
        try await CommandDatabase.run { commands in
            try await fill(commands)
            // Re-sorts delete the events of earlier days, so that later repetitions would not be recognized.
            try await commands.sql("UPDATE store_state SET customers_kept_from = current_date - 365")
            let now = Date.now.ISO8601Format()
            let header = "store,event_id,sku,quantity,at,customer\n"
            let file = try commands.file(
                "purchases.csv",
                header + Self.event(1, "b", at: now) + Self.event(2, "b", at: now) + Self.event(3, "c", at: now)
                    + Self.event(4, "zebra", at: now) + Self.event(5, "c", at: "2020-01-01T00:00:00Z")
            )
            let counts = { (accepted: Int, repeated: Int, unknown: Int) in
                "read\t5\naccepted\t\(accepted)\nrepeated\t\(repeated)\ntoo_old\t1\nunknown\t\(unknown)\nrejected\t0\n"
            }
            let report = commands.path("report.json")
            let record = TerminalRecord(isTerminal: true)
            let first = await commands.aisle(["purchases", "import", file, "--report", report], on: record)
            #expect(first.code == 0, "\(first)")
            #expect(first.output == counts(3, 0, 1))
            #expect(first.notes.hasPrefix("\r\u{1B}[K5 events\r\u{1B}[K"), "\(first)")
            #expect(first.notes.contains("stored separately until these products exist: zebra\nimported 3 events in "))
            #expect(first.notes.hasSuffix(" s; run aisle resort to count them\n"))
            #expect(
                try commands.text(of: "report.json").hasPrefix(
                    #"{"read":5,"accepted":3,"repeated":0,"too_old":1,"unknown":1,"rejected":0,"#
                )
            )
            let again = await commands.aisle(["purchases", "import", file])
            #expect(again.output.contains("accepted\t0\n") && again.output.contains("too_old\t1\n"), "\(again)")
            #expect(again.notes.contains("imported 0 events in "), "\(again)")

            // Only some of many unknown products are named.
            for count in [10, 11] {
                let rows = (0..<count).map { Self.event(100 * count + $0, "new\(100 + $0)", at: now) }.joined()
                let many = try commands.file("many\(count).csv", header + rows)
                let run = await commands.aisle(["purchases", "import", many])
                let names = (0..<10).map { "new\(100 + $0)" }.joined(separator: " ")
                let note = "stored separately until these products exist: \(names)\(count > 10 ? " …" : "")\n"
                #expect(run.notes.hasPrefix(note), "\(run)")
            }
            let wrong = try commands.file(
                "wrong.csv",
                header + Self.event(2001, "b", at: now) + Self.event(2002, "b", at: now, store: "other")
                    + Self.event(2003, "b", at: now, store: "") + Self.event(2004, "b", at: "yesterday")
            )
            let rejected = await commands.aisle(["purchases", "import", wrong, "--max-rejects", "75"])
            #expect(rejected.code == 0, "\(rejected)")
            #expect(rejected.output.hasPrefix("read\t4\naccepted\t1\n") && rejected.output.hasSuffix("rejected\t3\n"))
            #expect(rejected.notes.hasPrefix("rejected: line 3, store: “other” is not an existing store\n"))
            #expect(rejected.notes.contains("rejected: line 4, store: is missing\n"))
            #expect(rejected.notes.contains("rejected: line 5, at: “yesterday” "))

            // Without a store column, --store is required.
            let plain = try commands.file(
                "plain.csv",
                "event_id,sku,quantity,at\n00000000-0000-4000-8000-000000009001,d,1,\(now)\n"
            )
            #expect(await commands.aisle(["purchases", "import", plain]).code == 65)
            let stored = await commands.aisle(["purchases", "import", plain, "--store", "shop"])
            #expect(stored.output.hasPrefix("read\t1\naccepted\t1\n"), "\(stored)")
            await commands.expectFailure(
                ["purchases", "import", plain, "--store", "shpo"],
                66,
                "store “shpo” does not exist; did you mean shop?"
            )
            await commands.expectFailure(
                ["purchases", "forget", "--customer", " "],
                64,
                "--customer must not be empty"
            )
            #expect(await commands.aisle(["resort", "--all"]).code == 0)
            let forgotten = await commands.aisle(["purchases", "forget", "--customer", "customer 1"])
            #expect(forgotten.code == 0)
            #expect(
                forgotten.notes.hasPrefix("anonymized ") && forgotten.notes != "anonymized 0 rows\n",
                "\(forgotten)"
            )
        }
    }

    private static let resortHeader = "shelf\tproducts\trescored\tmoved\tms\n"

    @Test("A re-sort reports shelves as text or JSON, and a dry run changes nothing")
    func resorts() async throws {
        try await CommandDatabase.run { commands in
            try await fill(commands)
            try await commands.sql("UPDATE shelf SET position_source = '-popularity'")
            let now = Date.now.ISO8601Format()
            let events = (1...3).map { Self.event($0, "d", at: now) }.joined() + Self.event(4, "c", at: now)
            let file = try commands.file("purchases.csv", "store,event_id,sku,quantity,at,customer\n" + events)
            #expect(await commands.aisle(["purchases", "import", file]).code == 0)
            // Text without the duration.
            func line(_ run: CommandRun) -> String {
                let cells = run.output.dropFirst(Self.resortHeader.count).split(separator: "\t")
                return run.output.hasPrefix(Self.resortHeader) ? cells.dropLast().joined(separator: " ") : run.output
            }
            for arguments in [["--all", "--dry-run"], ["--store", "shop", "--dry-run"], ["shop/all", "--dry-run"]] {
                let dry = await commands.aisle(["resort"] + arguments)
                #expect(dry.code == 0, "\(dry)")
                #expect(line(dry).hasPrefix("shop/all 4 2 "), "\(dry)")
                #expect(dry.notes.hasPrefix("would fold 4 events, scored 2 products, changed 1 of 1 shelves, moved "))
                #expect(dry.notes.hasSuffix(" s\n"))
            }
            let check = await commands.aisle(["resort", "--all", "--check"])
            #expect(check.code == 3)
            #expect(check.notes.hasPrefix("would fold 4 events, "))
            #expect(await order(commands, "position") == "abcd")
            #expect(await commands.aisle(["resort", "log"]).output.split(separator: "\n").count == 1)

            let json = await commands.aisle(["resort", "--all", "--dry-run", "--format", "json", "--diff", "none"])
            let reports = try json.output.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
            #expect(reports.last?["summary"]?["dry_run"] == .bool(true))
            #expect(reports.last?["summary"]?["events"] == .number("4"))
            #expect(reports.allSatisfy { $0["diff"] == nil })
            for (detail, isPatch) in [("moves", false), ("json-patch", true)] {
                let run = await commands.aisle(["resort", "--all", "--dry-run", "--diff", detail])
                let shelf = try JSONReader.parse(Array((run.output.split(separator: "\n").first ?? "").utf8))
                #expect(shelf["shelf"] == .string("shop/all"))
                #expect(shelf["products"] == .number("4"))
                #expect(shelf["rescored"] == .number("2"))
                #expect((shelf["diff"]?.elements?.isEmpty == false) == isPatch, "\(run)")
                #expect((shelf["diff"]?.members != nil) == !isPatch, "\(run)")
            }

            let out = commands.path("out.txt")
            let done = await commands.aisle(["resort", "--all", "--jobs", "3", "--keep-days", "7", "--out", out])
            #expect(done.code == 0, "\(done)")
            #expect(done.output == "")
            #expect(done.notes.hasPrefix("folded 4 events, scored 2 products, changed 1 of 1 shelves, moved "))
            let text = try commands.text(of: "out.txt")
            #expect(text.hasPrefix(Self.resortHeader + "shop/all\t4\t2\t") && text.hasSuffix("\n"))
            #expect(await order(commands, "position") == "dcab")
            let idle = await commands.aisle(["resort", "--all", "--check"])
            #expect(idle.code == 0)
            #expect(idle.output == Self.resortHeader)
            #expect(idle.notes.hasPrefix("would fold 0 events, scored 0 products, changed 0 of "), "\(idle)")

            let log = await commands.aisle(["resort", "log"]).output.split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            #expect(
                log.first
                    == "run\tstate\tstarted_at\tseconds\tevents\tproducts\tshelves\tchanged\tmoved\trequest\tfailure"
            )
            let row = log.dropFirst().first.map { $0.split(separator: "\t", omittingEmptySubsequences: false) } ?? []
            try #require(row.count == 11)
            #expect(row[1] == "done")
            #expect(Array(row[4..<8]) == ["4", "2", "1", "1"])
            let seconds = try #require(Double(row[3]))
            #expect(seconds >= 0 && seconds < 300)
            #expect(row[9].contains(#""jobs":3"#) && row[9].contains(#""kept_days":7"#), "\(row)")
            #expect(row[10] == "")
            #expect(await commands.aisle(["resort", "--store", "shop", "--changed-since", "1h"]).code == 0)
            let requests = await commands.aisle(["resort", "log", "--format", "ndjson"]).output
            let runs = try requests.split(separator: "\n").map { try JSONReader.parse(Array($0.utf8)) }
            #expect(runs.count == 2)
            let request = try JSONReader.parse(Array((runs[0]["request"]?.string ?? "").utf8))
            #expect(request["jobs"] == .number("2"))
            #expect(request["kept_days"] == .number("400"))
            #expect(request["store"] == .string("shop"))
            #expect(request["changed_since"]?.string?.hasSuffix("Z") == true)
            #expect(await commands.aisle(["resort", "log", "--limit", "1"]).output.split(separator: "\n").count == 2)
            #expect(await commands.aisle(["resort", "log", "--limit", "10000"]).code == 0)

            // A run that did not end is resumed once, with its own request.
            await commands.expect(
                ["resort", "--resume"],
                output: Self.resortHeader,
                notes: "no interrupted run to resume\n"
            )
            try await commands.sql(
                "UPDATE resort_run SET ended_at = NULL WHERE run_id = (SELECT max(run_id) FROM resort_run)"
            )
            #expect(await commands.aisle(["resort", "log", "--limit", "1"]).output.contains("\tinterrupted\t"))
            let resumed = await commands.aisle(["resort", "--resume"])
            #expect(resumed.code == 0)
            #expect(resumed.notes.hasPrefix("folded 0 events, "), "\(resumed)")
            #expect(await commands.aisle(["resort", "--resume"]).notes == "no interrupted run to resume\n")
        }
    }

    @Test("Wrong arguments of a re-sort are errors that name the option")
    func resortErrors() async throws {
        try await CommandDatabase.run { commands in
            try await fill(commands)
            #expect(await commands.aisle(["store", "create", "kiosk", "--currency", "EUR"]).code == 0)
            #expect(await commands.aisle(["shelf", "create", "kiosk/sweets"]).code == 0)
            let scope = "specify exactly one of: shelves, --store, --all, --resume"
            let dryResume = "--resume cannot be combined with --dry-run or --check"
            for (arguments, message) in [
                ([], scope), (["--all", "--resume"], scope), (["shop/all", "--all"], scope),
                (["shop/all", "--store", "shop"], scope), (["--resume", "--check"], dryResume),
                (["--resume", "--dry-run"], dryResume), (["--all", "--jobs", "0"], "--jobs must be between 1 and 64"),
                (["--all", "--jobs", "65"], "--jobs must be between 1 and 64"),
                (["--all", "--keep-days", "0"], "--keep-days must be between 1 and 36500"),
                (["--all", "--keep-days", "36501"], "--keep-days must be between 1 and 36500"),
                (["--all", "--pace", "0"], "--pace must be between 1 and 100 (got 0)"),
                (["--all", "--pace", "101"], "--pace must be between 1 and 100 (got 101)"),
                (
                    ["--all", "--changed-since", "yesterday"],
                    "--changed-since must be an age such as 24h, 30m or 7d, or a time such as 2026-03-01T08:00:00Z"
                ),
                (
                    ["--all", "--changed-since", "2999-01-01T00:00:00Z"],
                    "--changed-since must not be in the future (got 2999-01-01T00:00:00Z)"
                ),
                (["shop/all", "kiosk/sweets"], "all shelves must be in one store"),
                (["log", "--limit", "0"], "--limit must be between 1 and 10000"),
                (["log", "--limit", "10001"], "--limit must be between 1 and 10000"),
            ] as [([String], String)] {
                await commands.expectFailure(["resort"] + arguments, 64, message)
            }
            #expect(await commands.aisle(["resort", "--all", "--pace", "1", "--keep-days", "36500"]).code == 0)
            let out = commands.path("none/out.txt")
            await commands.expectFailure(
                ["resort", "--all", "--out", out],
                73,
                "cannot write \(out): No such file or directory"
            )
        }
    }
}
