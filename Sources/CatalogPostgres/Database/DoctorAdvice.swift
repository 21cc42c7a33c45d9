/// Advice on server settings that make storage smaller or batch work faster.
enum DoctorAdvice {
    struct Setting: Sendable {
        /// In the unit of `pg_settings`.
        let value: String
        /// The permitted values of an enumeration.
        var choices: [String] = []
    }

    static let names = ["autovacuum", "checkpoint_timeout", "max_wal_size", "wal_compression"]

    private static let checkpointSeconds = 900
    private static let walMegabytes = 4096

    static func findings(_ settings: [String: Setting]) -> [Doctor.Finding] {
        func number(_ name: String) -> Int? { settings[name].flatMap { Int($0.value) } }
        var findings: [Doctor.Finding] = []
        if settings["autovacuum"]?.value == "off" {
            findings.append(
                Doctor.Finding(false, "autovacuum is off: tables grow with every change", set("autovacuum = on"))
            )
        }
        if let compression = settings["wal_compression"], compression.value == "off" {
            let best = ["lz4", "pglz"].first(where: compression.choices.contains) ?? "on"
            findings.append(
                Doctor.Finding(
                    advice:
                        "wal_compression is off: with \(best), full-page images take half the space in the write-ahead log",
                    set("wal_compression = \(best)")
                )
            )
        }
        if let seconds = number("checkpoint_timeout"), seconds < checkpointSeconds {
            findings.append(
                Doctor.Finding(
                    advice:
                        "checkpoint_timeout is \(seconds) s: after each checkpoint, the first change of a page logs all of it",
                    set("checkpoint_timeout = '15min'")
                )
            )
        }
        if let megabytes = number("max_wal_size"), megabytes < walMegabytes {
            findings.append(
                Doctor.Finding(
                    advice: "max_wal_size is \(megabytes) MB: imports and re-sorts cause additional checkpoints",
                    set("max_wal_size = '4GB'")
                )
            )
        }
        return findings
    }

    private static func set(_ assignment: String) -> String {
        // ALTER SYSTEM must be a command of its own.
        "psql \"$DATABASE_URL\" -c \"ALTER SYSTEM SET \(assignment)\" -c \"SELECT pg_reload_conf()\""
    }
}
