/// The schema's files, in order, embedded in the program.
package enum Schema {
    package struct Migration: Sendable, Hashable {
        package let version: Int
        package let name: String
        /// What makes it, as plain SQL.
        package let up: String
        /// What takes it back.
        package let down: String
    }

    package static let migrations: [Migration] = [
        Migration(1, "tables", PackageResources.v001_tables_up_sql, PackageResources.v001_tables_down_sql),
        Migration(
            2,
            "foreign_keys",
            PackageResources.v002_foreign_keys_up_sql,
            PackageResources.v002_foreign_keys_down_sql
        ),
        Migration(
            3,
            "sort_indexes",
            PackageResources.v003_sort_indexes_up_sql,
            PackageResources.v003_sort_indexes_down_sql
        ),
        Migration(
            4,
            "user_tables",
            PackageResources.v004_user_tables_up_sql,
            PackageResources.v004_user_tables_down_sql
        ),
        Migration(
            5,
            "user_foreign_keys",
            PackageResources.v005_user_foreign_keys_up_sql,
            PackageResources.v005_user_foreign_keys_down_sql
        ),
        Migration(
            6,
            "manual_order",
            PackageResources.v006_manual_order_up_sql,
            PackageResources.v006_manual_order_down_sql
        ),
        Migration(7, "purchases", PackageResources.v007_purchases_up_sql, PackageResources.v007_purchases_down_sql),
        Migration(8, "lists", PackageResources.v008_lists_up_sql, PackageResources.v008_lists_down_sql),
        Migration(
            9,
            "list_foreign_keys",
            PackageResources.v009_list_foreign_keys_up_sql,
            PackageResources.v009_list_foreign_keys_down_sql
        ),
    ]

    /// The newest migration.
    package static var currentVersion: Int { migrations.count }
}

extension Schema.Migration {
    fileprivate init(_ version: Int, _ name: String, _ up: [UInt8], _ down: [UInt8]) {
        self.init(
            version: version,
            name: name,
            up: String(decoding: up, as: UTF8.self),
            down: String(decoding: down, as: UTF8.self)
        )
    }
}
