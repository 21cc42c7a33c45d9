internal import LibPQ

extension SQL {
    /// The microseconds since 1970 at the start of the transaction.
    static let microseconds: SQL = "(extract(epoch FROM now()) * 1000000)::bigint"

    /// The version after the version in a column: the next number, but at least the current time in microseconds.
    ///
    /// A database that lost its last commits, in a failover or a restore, would otherwise assign the lost versions to other
    /// states. See decision 0031.
    static func nextVersion(after column: SQL) -> SQL { "greatest(\(column) + 1, \(microseconds))" }

    /// The time of a change: now, but later than the time in a column. So a time identifies one state of its row, even if
    /// two transactions began in the same microsecond.
    ///
    /// Adding to a time with a time zone is not immutable, so Citus refuses it with a column.
    ///
    /// - Parameters:
    ///   - other: another time that is earlier than the change; null for none.
    ///   - now: the current time. In DO UPDATE, Citus accepts only a column of `excluded`.
    static func nextTime(after column: SQL, and other: SQL? = nil, now: SQL = "now()") -> SQL {
        let last: SQL = other.map { "greatest(\(column), \($0))" } ?? column
        return
            "greatest(\(now), (\(last) AT TIME ZONE interval '0' + interval '1 microsecond') AT TIME ZONE interval '0')"
    }

    /// The version after the version in a column if a condition holds, otherwise the same one.
    ///
    /// Citus refuses the current time inside of `CASE`.
    static func nextVersion(after column: SQL, if condition: SQL) -> SQL {
        let step: SQL = "(\(condition))::boolean::integer"
        return "greatest(\(column) + \(step), \(microseconds) * \(step))"
    }
}
