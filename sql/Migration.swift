/// A version of the schema, and the way to it.
///
/// Lines of comment in its file say how it is applied on a live system:
/// - `-- Takes about: 20 s, 240 MB per million rows of placement` estimates time and additional space.
/// - `-- Compatible with: 10`: programs of schema version 10 and later work with the schema after it.
/// - `-- Step: title` begins a part that runs in a separate transaction, or without a transaction if it contains `CONCURRENTLY`.
/// - `-- Batches: title` begins a part that is repeated, each time in a transaction, until it changes no row.
/// - `-- Program: title` is a part without SQL, which the program runs.
///
/// A file without parts runs in one transaction. Parts must be repeatable: after an interruption all of them run again.
package struct Migration: Sendable, Hashable {
    package struct Part: Sendable, Hashable {
        package enum Kind: String, Sendable, CaseIterable {
            case step = "-- Step: "
            case batches = "-- Batches: "
            case program = "-- Program: "
        }

        package let title: String
        package let kind: Kind
        package let sql: String

        /// Whether it must run outside of a transaction.
        package var isConcurrent: Bool { sql.contains(" CONCURRENTLY ") }
    }

    /// The time and the additional space that a migration takes for each million rows of a table.
    package struct Estimate: Sendable, Hashable {
        package let table: String
        package let seconds: Int
        package let megabytes: Int
    }

    package let version: Int
    package let name: String
    /// The SQL that applies it.
    package let up: String
    /// The SQL that reverts it, in one transaction.
    package let down: String

    /// The SQL that applies or reverts it instead if Citus has distributed the tables; nil if the same works.
    private let upOnCitus: String?, downOnCitus: String?

    package init(
        version: Int,
        name: String,
        up: String,
        down: String,
        upOnCitus: String? = nil,
        downOnCitus: String? = nil
    ) {
        (self.version, self.name, self.up, self.down) = (version, name, up, down)
        (self.upOnCitus, self.downOnCitus) = (upOnCitus, downOnCitus)
    }

    /// Returns the SQL that applies it.
    ///
    /// - Parameter isDistributed: whether Citus has distributed the tables.
    package func up(isDistributed: Bool) -> String { isDistributed ? upOnCitus ?? up : up }

    /// Returns the SQL that reverts it.
    package func down(isDistributed: Bool) -> String { isDistributed ? downOnCitus ?? down : down }

    /// The oldest schema version whose programs work with the schema after this migration.
    package var oldestCompatible: Int {
        for line in up.split(separator: "\n") where line.hasPrefix(Self.compatible) {
            guard let oldest = Int(line.dropFirst(Self.compatible.count)) else {
                preconditionFailure("migration \(version): \(line) names no version")
            }
            return oldest
        }
        return version
    }

    /// The estimate of a migration whose time depends on the data; nil for others.
    package var estimate: Estimate? {
        guard let line = up.split(separator: "\n").first(where: { $0.hasPrefix(Self.takes) }) else { return nil }
        let words = line.dropFirst(Self.takes.count).split(whereSeparator: { $0 == " " || $0 == "," })
        guard words.count == 9, let seconds = Int(words[0]), let megabytes = Int(words[2]), words[1] == "s",
            words[3] == "MB"
        else { preconditionFailure("migration \(version): \(line) is not an estimate") }
        return Estimate(table: String(words[8]), seconds: seconds, megabytes: megabytes)
    }

    /// Returns the parts that run in sequence; none if the migration runs in one transaction.
    ///
    /// - Parameter isDistributed: whether Citus has distributed the tables.
    package func parts(isDistributed: Bool = false) -> [Part] {
        var parts: [(title: String, kind: Part.Kind, lines: [Substring])] = []
        var hasHead = false
        for line in up(isDistributed: isDistributed).split(separator: "\n", omittingEmptySubsequences: false) {
            if let kind = Part.Kind.allCases.first(where: { line.hasPrefix($0.rawValue) }) {
                parts.append((String(line.dropFirst(kind.rawValue.count)), kind, []))
            } else if !parts.isEmpty {
                parts[parts.count - 1].lines.append(line)
            } else if !line.isEmpty, !line.hasPrefix("--") {
                hasHead = true
            }
        }
        precondition(parts.isEmpty || !hasHead, "migration \(version) has statements before its first part")
        return parts.map { Part(title: $0.title, kind: $0.kind, sql: $0.lines.joined(separator: "\n")) }
    }

    private static let takes = "-- Takes about: "
    private static let compatible = "-- Compatible with: "
}
