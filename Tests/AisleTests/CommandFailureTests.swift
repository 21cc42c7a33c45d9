import ArgumentParser
import Catalog
import LibPQ
import Testing

@testable import aisle

/// The messages and exit codes of errors, as the documentation of the exit codes says.
@Suite struct CommandFailureTests {
    @Test("Each error of the catalog has a message that says what to do, and its exit code")
    func catalogErrors() {
        let cases: [(CatalogError, String, Int32)] = [
            (.malformed(parameter: "a", detail: "a is wrong"), "a is wrong", 64),
            (
                .unknownFilter(FilterError(FilterKey(name: "ratng_min")!, attributes: ["rating_min"])),
                "unknown filter “ratng_min”; did you mean rating_min?", 64
            ),
            (.malformed(parameter: "a", detail: "a is wrong", allowed: ["x", "y"]), "a is wrong (x, y)", 64),
            (.invalidCursor, "invalid cursor", 64), (.notFound("store “x”"), "store “x” does not exist", 66),
            (.unknownStores(detail: "no such stores", hint: nil), "no such stores", 66),
            (.unprocessable(field: "f", detail: "f is too long"), "f is too long", 65),
            (.stale(current: 7), "the order has changed; check it, and repeat with --if-version 7", 75),
            (
                .staleSetting(current: 7),
                "the setting has changed; read it, and repeat the change (the current revision is 7)", 75
            ),
            (.staleSetting(current: nil), "the setting does not exist", 75),
            (
                .staleList(current: 7),
                "the list has changed; read it, and repeat the change (the current version is 7)", 75
            ),
            (.staleAttribute(current: nil), "the attribute has changed; read it, and repeat the change", 75),
            (
                .inUse(AttributeName("rating")!, AttributeUses(settings: 1)),
                "attribute “rating” is in use: 1 remembered sort or filter; nothing was changed, confirm with --yes", 65
            ),
            (.staleSynonyms(current: nil), "the synonyms have changed; read them, and repeat the change", 75),
            (.forbidden("not allowed"), "not allowed", 77), (.tooMany("too many"), "too many", 75),
            (.keyReused, "the idempotency key was used for a different request", 64),
            (.tooLarge("too large"), "too large", 65), (.conflict("a conflict"), "a conflict", 65),
            (.unavailable, "the database is unreachable or overloaded", 69),
            (.readOnly, "the database is read-only; connect to the primary server", 69),
            (.cancelled, "interrupted", 130), (.fault("a bug"), "internal error: a bug", 1),
        ]
        for (error, message, code) in cases {
            let failure = CommandFailure(error)
            #expect(failure.message == message)
            #expect(failure.code == code, "\(error)")
        }
    }

    @Test("A mistyped sort key gets a suggestion, and another word the list of keys")
    func sortKeys() {
        func failure(_ text: String) -> CommandFailure {
            do throws(CatalogError) {
                _ = try parseSort(text)
                return CommandFailure("none", 0)
            } catch {
                return CommandFailure(error)
            }
        }
        #expect(failure("pricE").message.hasSuffix("; did you mean price?"))
        #expect(failure("Xyzzy").message.contains("; keys: "))
        #expect(failure("Xyzzy").message.contains("unit_price"))
        #expect(failure("pricE").code == 64)
    }

    @Test("Each error of the database has its exit code, and the first line of the server's message")
    func databaseErrors() {
        let cases: [(PostgresError, String, Int32)] = [
            (
                PostgresError(.server, "no rights\nmore", sqlState: .insufficientPrivilege),
                "permission denied by the database: no rights", 77
            ),
            (
                PostgresError(.server, "wrong password", sqlState: SQLState("28P01")),
                "permission denied by the database: wrong password", 77
            ),
            (PostgresError(.connection, "refused"), "the database is unreachable: refused", 69),
            (
                PostgresError(.server, "too many connections", sqlState: SQLState("53300")),
                "the database is unreachable: too many connections", 69
            ),
            (
                PostgresError(.server, "deadlock", sqlState: .deadlockDetected),
                "conflicting concurrent change; try again", 75
            ),
            (PostgresError(.misuse, "not a connection string"), "not a connection string", 78),
            (
                PostgresError(.server, "no table", sqlState: .undefinedTable),
                "the database has no aisle schema; run: aisle db migrate", 78
            ),
            (PostgresError(.server, "division", sqlState: SQLState("22012")), "database error: division", 1),
            (PostgresError(.decoding, ""), "database error: decoding", 1),
        ]
        for (error, message, code) in cases {
            let failure = CommandFailure(error)
            #expect(failure.message == message)
            #expect(failure.code == code, "\(message)")
        }
    }

    @Test("Other errors keep their own message and code")
    func otherErrors() {
        struct Odd: Error, CustomStringConvertible { let description = "odd" }
        let own = CommandFailure(CommandFailure("mine", 66) as any Error)
        #expect(own.message == "mine" && own.code == 66)
        let interrupted = CommandFailure(CancellationError())
        #expect(interrupted.message == "interrupted" && interrupted.code == 130)
        let odd = CommandFailure(Odd())
        #expect(odd.message == "odd" && odd.code == 1)
    }

    @Test("A name that does not exist gets the closest one, or the command that lists all")
    func missing() {
        let close = CommandFailure.missing("store", "shpo", among: ["shop", "kiosk"], list: "aisle store list")
        #expect(close.message == "store “shpo” does not exist; did you mean shop?")
        let far = CommandFailure.missing("store", "other", among: ["shop"], list: "aisle store list")
        #expect(far.message == "store “other” does not exist; list them with: aisle store list")
        #expect(close.code == 66 && far.code == 66)
    }

    private static func message(_ arguments: [String]) async -> String? {
        do {
            _ = try await Aisle.asyncParseAsRoot(arguments)
            return nil
        } catch {
            return UsageErrors.message(error, arguments)
        }
    }

    @Test("An error in the arguments starts with the program's name, and names an unknown command")
    func usage() async {
        #expect(await Self.message(["store", "list"]) == nil)
        #expect(await Self.message(["sotre"]) == "aisle: unknown command “aisle sotre”; did you mean aisle store?")
        #expect(
            await Self.message(["store", "lst"])
                == "aisle: unknown command “aisle store lst”; did you mean aisle store list?"
        )
        #expect(
            await Self.message(["store", "frobnicate"])
                == "aisle: unknown command “aisle store frobnicate”; list the commands with: aisle store --help"
        )
        // The old name of a command is known.
        #expect(
            await Self.message(["order", "bake"])?.hasPrefix("aisle: missing expected argument") == true
        )
        #expect(
            await Self.message(["order", "bak"])
                == "aisle: unknown command “aisle order bak”; did you mean aisle order bake?"
        )
        // Words after an option, and those of a command without subcommands, are not commands.
        #expect(await Self.message(["--frob", "stroe"])?.hasPrefix("aisle: unknown option '--frob'") == true)
        #expect(await Self.message(["version", "x"])?.hasPrefix("aisle: unexpected argument 'x'") == true)
    }
}
