import ArgumentParser
import Catalog
import CatalogImport
import Foundation
import Testing

@testable import aisle

/// Values and options of commands, as the parser reads them.
@Suite struct ArgumentTests {
    @Test("A moment is a time, or an age in minutes, hours or days")
    func moments() {
        let now = Timestamp(microseconds: 1_000_000_000_000_000)
        for (text, age) in [
            ("0m", 0), ("1m", 60), ("30m", 1800), ("24h", 86_400), ("7d", 604_800), ("999999m", 59_999_940),
        ] as [(String, Int64)] {
            #expect(Moment(text, now: now)?.time.microseconds == now.microseconds - age * 1_000_000, "\(text)")
        }
        #expect(Moment("1970-01-01T00:00:01Z", now: now)?.time.microseconds == 1_000_000)
        for text in ["", "m", "7", "7s", "-1m", "1.5h", "1000000m", "x7d", "7 d"] {
            #expect(Moment(text, now: now) == nil, "\(text)")
        }
        #expect(Moment(argument: "1h") != nil)
    }

    @Test("A lifetime is a number of seconds, minutes, hours or days, up to a year and a day")
    func lifetimes() {
        for (text, seconds) in [
            ("1s", 1), ("45s", 45), ("30m", 1800), ("12h", 43_200), ("7d", 604_800), ("366d", 31_622_400),
            ("31622400s", 31_622_400),
        ] as [(String, Int64)] {
            #expect(Lifetime(argument: text)?.seconds == seconds, "\(text)")
        }
        for text in [
            "", "h", "0s", "-1h", "12", "12w", "367d", "31622401s", "1.5h", "9223372036854775807d", "213503982334602d",
            "1e3s",
        ] {
            #expect(Lifetime(argument: text) == nil, "\(text)")
        }
        #expect(Lifetime(seconds: 43_200).defaultValueDescription == "12h")
    }

    @Test("The format of a file follows from its name, also below a compression")
    func formats() throws {
        for (path, format) in [
            ("a.csv", .csv), ("/x/A.CSV", .csv), ("a.tsv", .csv), ("a.txt", .csv), ("a.jsonl", .ndjson),
            ("a.ndjson", .ndjson), ("a.xml", .xml), ("a.csv.gz", .csv), ("x.y/a.xml.zip", .xml), ("a.b.csv", .csv),
            (".x.csv", .csv), ("a.ndjson.zip.gz", .ndjson),
        ] as [(String, ImportOptions.Format)] {
            #expect(try ImportOptions.Format.of(path, nil) == format, "\(path)")
        }
        #expect(try ImportOptions.Format.of("a.xml", .csv) == .csv)
        for (path, name) in [
            ("a", "a"), ("-", "-"), ("a.pdf", "a.pdf"), (".csv", ".csv"), (".gz", ".gz"), ("a.csv/b", "b"),
            ("a.", "a."),
            ("/none/a.zip", "a"),
        ] {
            let failure = #expect(throws: CommandFailure.self) { try ImportOptions.Format.of(path, nil) }
            #expect(
                failure?.message
                    == "the format of \(name) is not known from its extension; use --format csv, ndjson or xml"
            )
            #expect(failure?.code == CommandFailure.usage)
        }
    }

    private static func options(_ arguments: [String], _ profile: ImportProfile? = nil) async throws -> ImportOptions {
        try await ImportCommand.asyncParse(["file.csv"] + arguments).options(profile)
    }

    @Test("Without options, an import has the documented defaults")
    func importDefaults() async throws {
        let options = try await Self.options([])
        #expect(options.format == .csv)
        #expect(options.store == nil && options.currency == nil)
        #expect(options.onError == .skip)
        #expect(!options.prunes && !options.confirmsPrune && !options.createsStores && !options.isDryRun)
        #expect(!options.profile.readsSizeFromName && !options.keepsRejectedRows)
        #expect(options.profileName == nil)
        #expect(options.newShelfLimit == 1000)
        #expect(options.rejectedPercentLimit == ExactDecimal(5))
        #expect(options.dialect == FileDialect())
    }

    @Test("Each option of an import sets what it names, and nothing else")
    func importOptions() async throws {
        #expect(try await Self.options(["--store", "shop"]).store == CatalogKey("shop"))
        #expect(try await Self.options(["--currency", "CZK"]).currency == Currency("CZK"))
        #expect(try await Self.options(["--on-error", "abort"]).onError == .abort)
        let pruning = try await Self.options(["--prune"])
        #expect(pruning.prunes && !pruning.confirmsPrune)
        let confirmed = try await Self.options(["--yes"])
        #expect(confirmed.confirmsPrune && !confirmed.prunes)
        #expect(try await Self.options(["--create-store"]).createsStores)
        #expect(try await Self.options(["--dry-run"]).isDryRun)
        #expect(try await Self.options(["--size-from-name"]).profile.readsSizeFromName)
        #expect(try await Self.options(["--rejects", "x"]).keepsRejectedRows)
        #expect(try await Self.options(["--format", "xml"]).format == .xml)
        #expect(try await Self.options(["--max-rejects", "2.5%"]).rejectedPercentLimit == ExactDecimal("2.5"))
        for limit in [0, 1_000_000] {
            #expect(try await Self.options(["--max-new-shelves", "\(limit)"]).newShelfLimit == limit)
        }
        let dialect = try await Self.options([
            "--encoding", "utf-16le", "--separator", "|", "--decimal", "comma", "--header-line", "1000",
        ]).dialect
        #expect(dialect.encoding == .utf16LittleEndian && dialect.separator == .pipe)
        #expect(dialect.decimalMark == .comma && dialect.headerLine == 1000)
    }

    @Test("A profile keeps what no option sets")
    func importProfile() async throws {
        var profile = ImportProfile()
        profile.dialect = FileDialect(encoding: .latin2, separator: .tab, decimalMark: .point, headerLine: 3)
        profile.readsSizeFromName = true
        profile.format = .ndjson
        let kept = try await Self.options(["--profile", "mine"], profile)
        #expect(kept.dialect == profile.dialect)
        #expect(kept.profile.readsSizeFromName)
        #expect(kept.profileName == "mine")
        #expect(kept.format == .ndjson)
        let changed = try await Self.options(["--separator", "semicolon"], profile).dialect
        #expect(changed.separator == .semicolon && changed.encoding == .latin2 && changed.headerLine == 3)
        #expect(try await Self.options(["--format", "ndjson"], profile).format == .ndjson)
        let failure = await #expect(throws: CommandFailure.self) {
            try await Self.options(["--format", "csv"], profile)
        }
        #expect(failure?.message == "--format csv contradicts the profile, which is for ndjson")
    }

    @Test("Columns and constants of the command line take precedence, and keep each other")
    func importMapping() async throws {
        var profile = ImportProfile()
        profile.mapping.set(.shelf, constant: "Old")
        let options = try await Self.options(
            ["--map", "name=Product=Name", "shelf=Aisle", "attributes.color=Colour", "--set", "brand=Own"],
            profile
        )
        let mapping = options.profile.mapping
        #expect(options.title(of: .name) == "Product=Name")
        #expect(options.title(of: .shelf) == "Aisle")
        // The constant of the profile fills rows without a shelf.
        #expect(mapping.constant(.shelf) == "Old")
        #expect(mapping.constant(.brand) == "Own")
        #expect(mapping.constant(.name) == nil)
        #expect(Array(mapping.attributes.keys) == ["color"])
        #expect(options.title(of: .price) == "price")
        #expect(try await Self.options(["--set", "shelf=New"], profile).profile.mapping.constant(.shelf) == "New")
    }

    @Test("A wrong option of an import is an error that says what it must be")
    func importErrors() async {
        let columns =
            "columns: store, shelf, sku, name, brand, price, promo_price, promo_from, promo_to, regular_price, "
            + "deposit, currency, size, unit, pack_count, drained, unit_price, popularity, in_stock, tags, position, "
            + "barcode, image_url, group, attributes, and attributes.NAME"
        for (arguments, message) in [
            (["--currency", "EURO"], "--currency must be an ISO 4217 code, such as EUR (got “EURO”)"),
            (["--max-new-shelves", "-1"], "--max-new-shelves must be between 0 and 1000000 (got -1)"),
            (["--max-new-shelves", "1000001"], "--max-new-shelves must be between 0 and 1000000 (got 1000001)"),
            (["--max-rejects", "100.1"], "--max-rejects must be a percentage between 0 and 100 (got “100.1”)"),
            (["--header-line", "0"], "--header-line must be between 1 and 1000 (got 0)"),
            (["--map", "price"], "--map must be COLUMN=NAME, such as price=Price (got “price”)"),
            (["--map", "price="], "--map must be COLUMN=NAME, such as price=Price (got “price=”)"),
            (["--set", "=x"], "--set must be COLUMN=VALUE, such as shelf=Dairy (got “=x”)"),
            (["--map", "cost=Price"], "--map: “cost” is not a column; \(columns)"),
            (["--map", "attributes.=Price"], "--map: “attributes.” is not a column; \(columns)"),
            (["--set", "attributes.color=red"], "--set: “attributes.color” is not a column; \(columns)"),
            (
                ["--store", "A"],
                "a store key must be 1 to 64 characters of a-z, 0-9 and -, not starting with - (got “A”)"
            ),
        ] {
            let failure = await #expect(throws: CommandFailure.self) { try await Self.options(arguments) }
            #expect(failure?.message == message)
            #expect(failure?.code == CommandFailure.usage)
        }
    }

    private struct FilterCommand: AsyncParsableCommand {
        @OptionGroup var arguments: FilterArguments
    }

    private static func filter(_ arguments: [String]) async throws -> Filter? {
        try await FilterCommand.asyncParse(arguments).arguments.filter()
    }

    @Test("Each filter option sets its own key")
    func filters() async throws {
        #expect(try await Self.filter([]) == nil)
        var tested: Set<String> = []
        for (arguments, query) in [
            (["--brand", "Alm", "--brand", "-x"], "brand=-x&brand=Alm"), (["--tag", "bio"], "tag=bio"),
            (["--tags-all", "a", "--tags-all", "b"], "tags_all=a&tags_all=b"), (["--tags-none", "c"], "tags_none=c"),
            (["--in-stock"], "in_stock=true"), (["--no-in-stock"], "in_stock=false"),
            (["--price-min", "1.5"], "price_min=1.5"), (["--price-max", "2.5"], "price_max=2.5"),
            (["--dimension", "mass"], "dimension=mass"),
        ] {
            let found = try await Self.filter(arguments)?.query.split(separator: "&").sorted().joined(
                separator: "&"
            )
            #expect(found == query)
            tested.formUnion(query.split(separator: "&").map { String($0.prefix { $0 != "=" }) })
        }
        for (option, key) in [
            ("--created-after", "created_after"), ("--created-before", "created_before"),
            ("--modified-after", "modified_after"), ("--modified-before", "modified_before"),
            ("--unit-price-max", "unit_price_max"),
        ] {
            let value = key == "unit_price_max" ? "4/1l" : "2026-01-01"
            let filter = try await Self.filter([option, value])
            #expect(filter?.parameters.map(\.name) == [key])
            tested.insert(key)
        }
        #expect(tested == Set(FilterKey.allCases.map(\.name)))
    }

    @Test("Filters by attributes have a name and a value each")
    func attributeFilters() async throws {
        let found = try await Self.filter([
            "--filter", "rating_min=4", "--filter", "origin=a=b", "--filter", "origin=", "--tag", "x",
        ])
        #expect(found?.query == "tag=x&origin=&origin=a%3Db&rating_min=4")
        #expect(try await Self.filter(["--filter", "attributes.brand=-1"])?.query == "attributes.brand=-1")
        // Built-in filters can be written so, too.
        #expect(try await Self.filter(["--filter", "brand=B", "--brand", "A"])?.query == "brand=A&brand=B")
        for wrong in ["rating", "=4", "Rating=4", ""] {
            await #expect(throws: CatalogError.self, "\(wrong)") { try await Self.filter(["--filter", wrong]) }
        }
    }

    @Test("A watch is of a user or a shelf, and only a shelf has a sort and a limit")
    func watch() async {
        for arguments in [
            ["--user", "ann"], ["--shelf", "s/d"], ["--shelf", "s/d", "--limit", "1", "--by", "-price"],
            ["--shelf", "s/d", "--limit", "100", "--since", "-7"],
        ] {
            #expect((try? await WatchCommand.asyncParse(arguments)) != nil, "\(arguments)")
        }
        for arguments in [
            [], ["--user", "ann", "--shelf", "s/d"], ["--user", "ann", "--by", "price"],
            ["--user", "ann", "--limit", "5"], ["--shelf", "s/d", "--limit", "0"],
            ["--shelf", "s/d", "--limit", "101"],
        ] {
            #expect((try? await WatchCommand.asyncParse(arguments)) == nil, "\(arguments)")
        }
    }
}
