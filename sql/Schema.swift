/// The schema's files, in order, embedded in the program.
package enum Schema {
    /// The migrations in `migrations/`, by version: `v001_tables.up.sql` and `v001_tables.down.sql` are the first.
    ///
    /// - Precondition: versions are 1, 2, 3 and so on, each with both files.
    package static let migrations: [Migration] = {
        let texts = Dictionary(uniqueKeysWithValues: files.map { ($0.name, $0.sql) })
        let ofCitus = Dictionary(uniqueKeysWithValues: citusFiles.map { ($0.name, $0.sql) })
        return files.filter { $0.name.hasSuffix(".up.sql") }.enumerated().map { index, file in
            let stem = String(file.name.dropLast(".up.sql".count))
            guard stem.first == "v", Int(stem.dropFirst().prefix { $0 != "_" }) == index + 1,
                let down = texts["\(stem).down.sql"]
            else { preconditionFailure("sql/migrations/\(file.name) has a wrong number, or no down migration") }
            let name = String(stem.drop { $0 != "_" }.dropFirst())
            return Migration(
                version: index + 1,
                name: name,
                up: file.sql,
                down: down,
                upOnCitus: ofCitus["\(stem).up.sql"],
                downOnCitus: ofCitus["\(stem).down.sql"]
            )
        }
    }()

    /// The script that distributes the tables on Citus that are not distributed yet: `citus/distribute.sql`.
    package static let distribution: String = {
        guard let file = citusFiles.first(where: { $0.name == "distribute.sql" }) else {
            preconditionFailure("sql/citus/distribute.sql is missing")
        }
        return file.sql
    }()

    /// The newest migration.
    package static var currentVersion: Int { migrations.count }
}
