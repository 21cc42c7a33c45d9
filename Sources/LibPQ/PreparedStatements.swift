/// The use of prepared statements.
package enum PreparedStatements: String, Sendable {
    /// Prepared once under a name. A transaction pooler must support prepared statements, and know the outstanding results.
    /// PgBouncer does so from 1.22.1 on; before 1.24, this is a setting.
    case named
    /// Sent as full text each time, for older poolers. At most one transaction of a connection is in flight then: if the connection is
    /// lost between two results, PgBouncer 1.18 passes the second one to the next client.
    case unnamed
}
