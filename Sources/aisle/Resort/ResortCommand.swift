internal import JSON
internal import ArgumentParser
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import LibPQ
internal import Synchronization

struct ResortCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resort",
        abstract: "Update all derived orders: popularity, dimensions and manual orders with a source sort.",
        discussion: "aisle resort --all re-sorts everything; aisle resort run --help lists all options.",
        subcommands: [Run.self, Log.self],
        defaultSubcommand: Run.self
    )

    struct Run: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Run a re-sort of shelves, a store or everything.",
            discussion: """
                Each shelf changes in one transaction; unchanged shelves are skipped. An interrupted run \
                is completed by --resume or by the next run. Exit code 3: --check found changes.
                """
        )

        @Argument(help: "STORE/SHELF …, all in one store.") var shelves: [ShelfName] = []
        @Option(help: "All shelves of a store.") var store: StoreName?
        @Flag(help: "All shelves of all stores.") var all = false
        @Option(help: "Only shelves that changed within an age such as 24h or 7d, or since a time.") var changedSince:
            String?
        @Option(parsing: .unconditional, help: "The number of parallel jobs, each with two connections.") var jobs = 2
        @Option(
            parsing: .unconditional,
            help: """
                The share of the time in which each job works on shelves, in percent. Below 100, it leaves the rest to pages, and uses \
                one connection and smaller transactions.
                """
        ) var pace = 100
        @Option(help: "How much detail of the moves to report.") var diff = ResortRequest.DiffDetail.summary
        @Option(help: "Write the report, one line per changed shelf, to a file.") var out: String?
        @Option(
            parsing: .unconditional,
            help: "The number of days after which customers are anonymized and event ids are deleted."
        ) var keepDays = Purchase
            .retentionDays
        @Option(help: "text, or json with one object per line.") var format: ReportFormat = .text
        @Flag(help: "Report the result without changing anything.") var dryRun = false
        @Flag(help: "Like --dry-run, but exit with 3 if anything would change.") var check = false
        @Flag(help: "Complete the last interrupted run, with this call's --jobs, --pace and --diff.")
        var resume = false
        @OptionGroup var database: DatabaseOptions

        func execute() async throws {
            guard [!shelves.isEmpty, store != nil, all, resume].filter({ $0 }).count == 1 else {
                throw CommandFailure(
                    "specify exactly one of: shelves, --store, --all, --resume",
                    CommandFailure.usage
                )
            }
            let isDryRun = dryRun || check
            guard !(resume && isDryRun) else {
                throw CommandFailure("--resume cannot be combined with --dry-run or --check", CommandFailure.usage)
            }
            var request = try options()
            try await database.withCatalog(jobs: 2 * jobs + 1) { catalog in
                request.isDryRun = isDryRun
                try await scope(&request, catalog)
                let report = try ResortReport(out, isJSON: format == .json, form: request.diffs)
                let listener = Resorter.Listener(
                    onShelf: report.report,
                    onProgress: report.progress,
                    onIgnoredSource: report.ignore
                )
                let start = ContinuousClock.now
                let resorter = Resorter(catalog)
                for other in try await resorter.history(20) where other.state == .running {
                    Console.note(
                        "run \(other.number), started at \(other.startedAt.rfc3339), is in progress; this run shares its work"
                    )
                }
                let summary: ResortSummary
                if resume {
                    guard let resumed = try await resorter.resume(as: request, listener) else {
                        return Console.note("no interrupted run to resume")
                    }
                    summary = resumed
                } else {
                    summary = try await resorter.run(request, listener)
                }
                try report.end(summary, ContinuousClock.now - start, isDryRun: isDryRun)
                if summary.isFoldPostponed {
                    Console.note(
                        "the last purchases are not counted, because a long transaction or the move of a shard locks purchase_inbox; run this again later"
                    )
                }
                await catalog.database.announcer.flush()
                if check, summary.isChange { throw ExitCode(3) }
            }
        }

        private static let keepDaysLimit = 36_500

        private func options() throws -> ResortRequest {
            guard (1...ResortRequest.jobsLimit).contains(jobs) else {
                throw CommandFailure("--jobs must be between 1 and \(ResortRequest.jobsLimit)", CommandFailure.usage)
            }
            guard (1...Self.keepDaysLimit).contains(keepDays) else {
                throw CommandFailure("--keep-days must be between 1 and \(Self.keepDaysLimit)", CommandFailure.usage)
            }
            guard ResortRequest.paces.contains(pace) else {
                throw CommandFailure("--pace must be between 1 and 100 (got \(pace))", CommandFailure.usage)
            }
            return ResortRequest(
                changedSince: try changedSince.map(Self.moment),
                diffs: diff,
                jobs: jobs,
                pace: pace,
                retentionDays: keepDays
            )
        }

        private func scope(_ request: inout ResortRequest, _ catalog: PostgresCatalog) async throws {
            request.store = try await store?.resolve(catalog)
            for name in shelves {
                let (store, shelf) = try await name.resolve(catalog)
                guard request.store == nil || request.store == store else {
                    throw CommandFailure("all shelves must be in one store", CommandFailure.usage)
                }
                request.store = store
                request.shelves.append(shelf)
            }
        }

        /// Parses a time, or an age such as `24h`.
        private static func moment(_ text: String) throws -> Timestamp {
            let now = Timestamp.now()
            guard let time = Moment(text, now: now)?.time else {
                throw CommandFailure(
                    "--changed-since must be an age such as 24h, 30m or 7d, or a time such as 2026-03-01T08:00:00Z",
                    CommandFailure.usage
                )
            }
            guard time <= now else {
                throw CommandFailure("--changed-since must not be in the future (got \(text))", CommandFailure.usage)
            }
            return time
        }
    }

    struct Log: AisleCommand {
        static let configuration = CommandConfiguration(abstract: "List the runs, the latest first.")
        private static let runLimit = 10_000

        @Option(parsing: .unconditional, help: "The maximum number of runs.") var limit = 20
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        @OptionGroup var database: DatabaseOptions
        func execute() async throws {
            guard (1...Self.runLimit).contains(limit) else {
                throw CommandFailure("--limit must be between 1 and \(Self.runLimit)", CommandFailure.usage)
            }
            try await database.withCatalog { catalog in
                let counted = ResortSummary().counts.map { Table.Column(title: $0.name, isNumber: true) }
                var table = Table(
                    columns: [.init(title: "run", isNumber: true), .init(title: "state"), .init(title: "started_at")]
                        + [.init(title: "seconds", isNumber: true)] + counted + [
                            .init(title: "request"), .init(title: "failure"),
                        ]
                )
                for run in try await Resorter(catalog).history(limit) {
                    let seconds = run.endedAt.map { "\(Double($0.microseconds - run.startedAt.microseconds) / 1e6)" }
                    table.rows.append(
                        ["\(run.number)", run.state.rawValue, run.startedAt.rfc3339, seconds]
                            + run.summary.counts.map { "\($0.count)" } + [run.request, run.failure]
                    )
                }
                table.print(.resolve(format))
            }
        }
    }
}

/// The report of a re-sort: one line per changed shelf, totals at the end, and progress on a terminal.
final class ResortReport: Sendable {
    private let isJSON: Bool
    private let detail: ResortRequest.DiffDetail
    private let file: OutputFile?
    private let start = ContinuousClock.now
    private let lastProgress = Mutex(ContinuousClock.now)

    init(_ path: String?, isJSON: Bool, form: ResortRequest.DiffDetail) throws {
        self.isJSON = isJSON || form == .moves || form == .jsonPatch
        self.detail = form
        file = try path.map { try OutputFile($0, option: "--out") }
        if !self.isJSON { write("shelf\tproducts\trescored\tmoved\tms\n") }
    }

    func report(_ shelf: ShelfResort) {
        let name = "\(shelf.shelf.store)/\(shelf.shelf.shelf)"
        let milliseconds = shelf.duration.milliseconds
        guard isJSON else {
            return write("\(name)\t\(shelf.products)\t\(shelf.rescored)\t\(shelf.moved)\t\(milliseconds)\n")
        }
        var json = JSONWriter()
        json.object { json in
            json.field("shelf", name)
            json.field("products", shelf.products)
            json.field("rescored", shelf.rescored)
            json.field("moved", shelf.moved)
            json.field("ms", Int(milliseconds))
            if let diff = shelf.diff {
                let text = detail == .jsonPatch ? diff.jsonPatch() : diff.json()
                json.field("diff", json: String(decoding: text, as: UTF8.self))
            }
        }
        write(json.text + "\n")
    }

    func ignore(_ shelf: ShelfAddress, _ source: Sort) {
        Console.endProgress()
        Console.note(
            "\(shelf.store)/\(shelf.shelf): the manual order stays as it is, because the store no longer has an attribute of its source “\(source)”"
        )
    }

    func progress(_ done: Int, _ total: Int) {
        let isDue = lastProgress.withLock { last in
            guard ContinuousClock.now - last > .milliseconds(200) else { return false }
            last = .now
            return true
        }
        guard isDue, done > 0 else { return }
        let seconds = Double((ContinuousClock.now - start).milliseconds) / 1000
        Console.progress(Self.progress(done, of: total, after: seconds), share: Double(done) / Double(total))
    }

    /// Returns the progress of a re-sort, with its speed and the time that is left.
    ///
    /// - Parameter done: at least 1.
    static func progress(_ done: Int, of total: Int, after seconds: Double) -> String {
        let left = seconds / Double(done) * Double(total - done)
        return "\(done) of \(total) shelves, \(Int(Double(done) / max(seconds, 0.001)))/s, \(Int(left)) s left"
    }

    func end(_ summary: ResortSummary, _ duration: Duration, isDryRun: Bool) throws {
        Console.endProgress()
        try file?.finish()
        if isJSON {
            var json = JSONWriter()
            json.object { json in
                json.object("summary") { json in
                    for (name, count) in summary.counts { json.field(name: name, count) }
                    json.field("ms", Int(duration.milliseconds))
                    json.field("dry_run", isDryRun)
                }
            }
            Console.data(json.text + "\n")
        }
        let seconds = Double(duration.milliseconds) / 1000
        Console.note(
            "\(isDryRun ? "would fold" : "folded") \(summary.events) events, scored \(summary.products) products, changed \(summary.changed) of \(summary.shelves) shelves, moved \(summary.moved) in \(seconds) s"
        )
    }

    private func write(_ text: String) {
        guard let file else { return Console.data(text) }
        do { try file.write(text) } catch {
            Console.note("aisle: \(CommandFailure(error).message); the re-sort continues")
        }
    }
}

extension ResortRequest.DiffDetail: ExpressibleByArgument {}
