/// The use of prepared statements.
package enum PreparedStatements: String, Sendable {
    /// Prepared once under a name. A transaction pooler must support prepared statements, as
    /// PgBouncer does from 1.21 on.
    case named
    /// Sent as full text each time, for poolers without support for prepared statements.
    case unnamed
}
