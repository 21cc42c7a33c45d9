import Catalog
import CatalogJSON
import JSON
import TestSupport

/// Performs operations on a catalog and on the specification, and compares them after each step.
struct UserDataRun {
    typealias Specification = UserDataSpecification
    typealias Operation = UserDataOperation

    /// A difference between the catalog and the specification.
    struct Difference: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private let catalog: CatalogStorage
    /// Keeps the users of runs on one catalog apart.
    private let suffix: String
    /// Advances the catalog's clock, and returns its time.
    private let tick: () -> Timestamp
    /// A time before the run.
    private let past: Timestamp

    private var specification = Specification()
    private var names = UserDataNames()
    /// The digests of the tokens of shares.
    private var digests: [String: [UInt8]] = [:]
    /// The versions of each list, in order.
    private var versions: [String: [Int64]] = [:]
    private var firstResponses: [String: [UInt8]] = [:]
    /// Which writes of the last edit of settings won, and the values after it.
    private var applied: [Bool] = []
    private var values: [String?] = []
    /// Devices that are always online, one for each user, and devices that synchronize from time to time.
    private var live = Specification.users.map { UserDataDevice($0) }
    private var devices: [UserDataDevice] = (0..<UserDataGenerator.devicesPerUser).flatMap { _ in
        Specification.users.map { UserDataDevice($0) }
    }

    init(_ catalog: CatalogStorage, suffix: String, tick: @escaping () -> Timestamp) {
        (self.catalog, self.suffix, self.tick) = (catalog, suffix, tick)
        past = Timestamp(microseconds: tick().microseconds - 3_600_000_000)
    }

    /// Returns the first difference and the number of operations that lead to it; nil if there is none.
    mutating func firstDifference(_ operations: [Operation]) async -> (text: String, count: Int)? {
        for (index, operation) in operations.enumerated() where specification.isDefined(operation) {
            do { try await perform(operation) } catch { return ("\(operation)\n  \(error)", index + 1) }
        }
        do {
            for index in devices.indices { try await synchronize(index, .init()) }
            for user in Specification.users { try await compareExport(of: user) }
        } catch {
            return ("at the end\n  \(error)", operations.count)
        }
        return nil
    }

    private func id(of user: String) -> UserID { UserID(user + suffix)! }

    private func expect<T: Equatable>(_ found: T, _ expected: T, _ what: String) throws {
        guard found != expected else { return }
        throw Difference("\(what): found \(found), expected \(expected)")
    }

    // MARK: - Operations

    private mutating func perform(_ operation: Operation) async throws {
        let expected = specification.perform(operation)
        if case .sync(let device, let parts) = operation.action { return try await synchronize(device, parts) }
        let now = tick()
        let found: Specification.Answer
        var response: [UInt8] = []
        do throws(CatalogError) {
            response = try await performOnCatalog(operation, now)
            found = expected == .repeated ? .repeated : .done
        } catch {
            guard let refusal = Self.refusal(error) else { throw Difference("\(error)") }
            found = .refused(refusal)
        }
        try expect(found, expected, "answer")
        if let key = operation.key.map({ operation.user + $0 }) {
            if expected == .done { firstResponses[key] = response }
            if expected == .repeated { try expect(response, firstResponses[key] ?? [], "response to a repeat") }
        }
        if expected == .done {
            switch operation.action {
            case .write(let writes, _):
                try expect(applied, specification.applied, "applied writes")
                let current = specification.settings(of: operation.user)
                try expect(values, writes.map { current[$0.setting] }, "values after the writes")
            case .merge:
                // The order is that of the guest's revisions, which the response does not have.
                try expect(applied.count, specification.applied.count, "settings of the guest")
                try expect(
                    applied.count { $0 },
                    specification.applied.count { $0 },
                    "merged settings"
                )
            default: break
            }
        }
        let isMerge = if case .merge = operation.action { true } else { false }
        for index in live.indices { try await receive(index, mayAdvance: isMerge) }
    }

    private static func refusal(_ error: CatalogError) -> Specification.Refusal? {
        switch error {
        case .notFound: .notFound
        case .forbidden: .forbidden
        case .staleList, .staleSetting: .stale
        case .conflict: .conflict
        case .unprocessable: .invalid
        case .keyReused: .keyReused
        default: nil
        }
    }

    /// Performs an operation and returns the response that is recorded with a key.
    private mutating func performOnCatalog(
        _ operation: Operation,
        _ now: Timestamp
    ) async throws(CatalogError) -> [UInt8] {
        let user = id(of: operation.user)
        switch operation.action {
        case .create(let list, let name, let sinksChecked, let sort):
            let new = NewList(
                id: names.id(list),
                name: name,
                autoSort: sinksChecked,
                sort: ListItemSort(rawValue: sort)!
            )
            return try await catalog.lists.createList(new, of: user, once: call(operation)).recorded.body
        case .set(let list, let settings, let precondition):
            let edit = ListSettings(
                name: settings.name,
                autoSort: settings.sinksChecked,
                sort: settings.sort.flatMap { ListItemSort(rawValue: $0) },
                isDeleted: settings.isDeleted
            )
            return try await self.edit(list, .set(edit), precondition, operation)
        case .remove(let list, let precondition):
            try await catalog.lists.removeList(names.id(list), of: user, expected: expected(precondition, list))
            return []
        case .add(let list, let items, let precondition):
            var new: [NewListItem] = []
            for item in items {
                new.append(
                    NewListItem(
                        id: names.id(item.name),
                        text: item.text,
                        quantity: ExactDecimal(item.quantity)!,
                        isChecked: item.isChecked
                    )
                )
            }
            return try await edit(list, .add(new), precondition, operation)
        case .change(let list, let changes, let precondition):
            var edits: [ListItemChange] = []
            for change in changes {
                let note: String?? = change.fields["note"].map { $0.isEmpty ? nil : $0 }
                edits.append(
                    ListItemChange(
                        names.id(change.name),
                        text: change.fields["text"],
                        quantity: change.fields["quantity"].flatMap { ExactDecimal($0) },
                        note: note,
                        isChecked: change.fields["checked"].map { $0 == "true" },
                        isDeleted: change.fields["deleted"].map { $0 == "true" },
                        modifiedAt: moment(change.time, now)
                    )
                )
            }
            return try await edit(list, .change(edits), precondition, operation)
        case .moveItems(let items, let target, let list, let precondition):
            return try await edit(list, .move([move(items, target)]), precondition, operation)
        case .moveLists(let lists, let target):
            let moves = [move(lists, target)]
            return try await catalog.lists.moveLists(moves, of: user, once: call(operation)).recorded.body
        case .share(let name, let list, let role, let isExpired):
            let end = now.microseconds + (isExpired ? -60_000_000 : 3_600_000_000)
            let share = ListShare(
                id: names.id(name),
                role: ListRole(rawValue: role)!,
                createdAt: now,
                expiresAt: Timestamp(microseconds: end)
            )
            let digest = digests[name] ?? [UInt8].random(32)
            digests[name] = digest
            return try await catalog.lists.share(
                names.id(list),
                of: user,
                share,
                digest: digest,
                once: call(operation)
            ).recorded.body
        case .revoke(let share, let list):
            try await catalog.lists.revoke(names.id(share), names.id(list), of: user)
            return []
        case .join(let share):
            let digest = digests[share] ?? [UInt8].random(32)
            return try await catalog.lists.join(digest, of: user, once: call(operation)).recorded.body
        case .write(let writes, let precondition):
            try await write(writes, precondition, user, now)
            return []
        case .merge(let guest):
            let outcome = try await catalog.users.merge(id(of: guest), into: user, once: call(operation))
            applied = Array(repeating: true, count: outcome.merged) + Array(repeating: false, count: outcome.kept)
            return outcome.recorded.body
        case .erase:
            try await catalog.users.erase(user)
            return []
        case .sync: return []
        }
    }

    private mutating func edit(
        _ list: String,
        _ edit: ListEdit,
        _ precondition: Operation.Precondition,
        _ operation: Operation
    ) async throws(CatalogError) -> [UInt8] {
        let (user, versions) = (id(of: operation.user), expected(precondition, list))
        return try await catalog.lists.editList(
            names.id(list),
            of: user,
            edit,
            expected: versions,
            once: call(operation)
        ).recorded.body
    }

    private mutating func write(
        _ writes: [Operation.Write],
        _ precondition: Operation.Precondition,
        _ user: UserID,
        _ now: Timestamp
    ) async throws(CatalogError) {
        var edit = SettingsEdit([])
        for write in writes {
            let value = write.value.map { try! JSONReader.parse(Array($0.utf8)) }
            edit.writes.append(.init(SettingKey(write.setting)!, value, modifiedAt: moment(write.time, now)))
        }
        let revision = (try? await catalog.settings.setting(edit.writes[0].key, of: user))?.revision ?? 2
        edit.expectation =
            switch precondition {
            case .none: .unconditional
            case .present: .present
            case .absent: .absent
            case .currentVersion: .revision([revision])
            case .staleVersion: .revision([revision - 1])
            }
        let results = try await catalog.settings.edit(edit, of: user)
        applied = results.map(\.isApplied)
        values = results.map { $0.setting.value?.text }
    }

    private mutating func move(_ names: [String], _ target: Operation.Target) -> OrderMove {
        let place: OrderMove.Target =
            switch target {
            case .first: .first
            case .last: .last
            case .after(let name): .after(self.names.id(name).text)
            case .before(let name): .before(self.names.id(name).text)
            case .position(let position): .position(position)
            }
        return OrderMove(names.map { self.names.id($0).text }, place)
    }

    /// Returns the versions that a request accepts.
    private func expected(_ precondition: Operation.Precondition, _ list: String) -> Set<Int64>? {
        let known = versions[list] ?? [1]
        return switch precondition {
        case .none, .present, .absent: nil
        case .currentVersion: [known.last!]
        case .staleVersion: known.count > 1 ? Set(known.dropLast()) : [known.last! - 1]
        }
    }

    private func moment(_ time: Operation.Time, _ now: Timestamp) -> Timestamp? {
        switch time {
        case .none: nil
        case .past(let number): Timestamp(microseconds: past.microseconds + Int64(number))
        case .future: Timestamp(microseconds: now.microseconds + 3_600_000_000)
        }
    }

    private func call<Outcome: RecordableOutcome>(_ operation: Operation) -> IdempotentCall<Outcome>? {
        guard let key = operation.key else { return nil }
        var fingerprint = [UInt8](repeating: 0, count: 32)
        for (index, byte) in operation.body.utf8.enumerated() {
            fingerprint[index % 32] = fingerprint[index % 32] &* 31 &+ byte
        }
        return IdempotentCall(key: key, fingerprint: fingerprint)
    }

    // MARK: - Events

    /// Receives the events of a step on the device of a user that is always online.
    ///
    /// - Parameter mayAdvance: whether the revision may grow without an event.
    private mutating func receive(_ index: Int, mayAdvance: Bool) async throws {
        let user = live[index].user
        let erasures = specification.erasures[user] ?? 0
        let position = live[index].eventsPosition
        let page = try await catalog.versions.changes(of: id(of: user), since: position.revision, limit: 1000)
        try expect(page.isResync, position.mustResync(erasures), "resync of the events of \(user)")
        if page.isResync {
            live[index] = UserDataDevice(user)
            try await readAll(index)
        } else {
            let events = try page.events.map { names.event(try JSONReader.parse($0.data)) }
            try compare(events, specification.events(of: user, after: position.event), "events of \(user)")
            let revisions = [position.revision] + page.events.map(\.id)
            guard zip(revisions, revisions.dropFirst()).allSatisfy({ $0 < $1 }), page.revision >= revisions.last! else {
                throw Difference("revisions of the events of \(user): \(revisions), then \(page.revision)")
            }
            if events.isEmpty, position.revision > 0, !mayAdvance {
                try expect(page.revision, position.revision, "revision of \(user), who has no event")
            }
            for event in page.events { try await apply(event, index) }
        }
        let revision = try await page.isResync ? currentRevision(user) : page.revision
        live[index].eventsPosition = .init(revision: revision, erasures: erasures, event: specification.eventCount)
        try expect(live[index].settings, specification.settings(of: user), "settings on the live device of \(user)")
        try expect(
            live[index].lists.mapValues(\.shown),
            specification.shownLists(of: user),
            "lists on the live device of \(user)"
        )
    }

    /// Compares the events of each subject, in order. Different subjects of one operation have no documented order.
    private func compare(_ found: [Specification.Event], _ expected: [Specification.Event], _ what: String) throws {
        try expect(
            Dictionary(grouping: found, by: \.subject).mapValues { $0.map(\.content) },
            Dictionary(grouping: expected, by: \.subject).mapValues { $0.map(\.content) },
            what
        )
    }

    private mutating func apply(_ event: LiveEvent, _ index: Int) async throws {
        let json = try JSONReader.parse(event.data)
        if let key = json["key"]?.string {
            live[index].settings[key] = json["deleted"] == .bool(true) ? nil : json["value"]?.text
            return
        }
        guard let list = json["list"] else { return }
        let name = names.name(list["id"]?.string)
        if let version = Int64(json["version"]?.text ?? "") { note(version, of: name) }
        if list["deleted"] == .bool(true) {
            live[index].lists[name] = nil
        } else if json["resync"] == .bool(true) {
            live[index].lists[name] = try await read(name, nil, live[index].user)
        } else if let fault = live[index].lists[name, default: .init()].apply(json, names) {
            throw Difference("event of \(name) for \(live[index].user): \(fault)")
        }
    }

    /// Records the version of a list.
    private mutating func note(_ version: Int64, of list: String) {
        if versions[list]?.last != version { versions[list, default: []].append(version) }
    }

    /// Reads everything on a device that must resync.
    private mutating func readAll(_ index: Int) async throws {
        let user = live[index].user
        for setting in try await catalog.settings.settings(of: id(of: user), since: nil, limit: nil).settings {
            live[index].settings[setting.key.text] = setting.value?.text
        }
        for entry in try await catalog.lists.lists(of: id(of: user), by: .manual, since: nil).entries {
            let name = names.name(entry.membership.list.id.text)
            note(entry.membership.list.version, of: name)
            live[index].lists[name] = try await read(name, nil, user)
        }
    }

    private func currentRevision(_ user: String) async throws -> Int64 {
        try await catalog.versions.revisions(of: [id(of: user)])[id(of: user)] ?? 0
    }

    /// Reads a list, or its changes since the version that a device shows.
    private mutating func read(
        _ name: String,
        _ known: UserDataDevice.ShownList?,
        _ user: String
    ) async throws -> UserDataDevice.ShownList {
        let (membership, facts) = try await catalog.lists.list(names.id(name), of: id(of: user), by: nil)
        var list = known ?? UserDataDevice.ShownList()
        list.read(try JSONReader.parse(membership.json(facts, by: nil, since: known?.version)), names)
        return list
    }

    // MARK: - Synchronization

    private mutating func synchronize(_ index: Int, _ parts: Operation.Parts) async throws {
        if parts.settings { try await synchronizeSettings(index) }
        if parts.lists { try await synchronizeLists(index) }
        if parts.events { try await synchronizeEvents(index) }
    }

    private mutating func synchronizeSettings(_ index: Int) async throws {
        let user = devices[index].user
        let erasures = specification.erasures[user] ?? 0
        // Even devices read pages.
        let limit = index % 2 == 0 ? 2 : nil
        var position = devices[index].settingsPosition
        while true {
            let page = try await catalog.settings.settings(of: id(of: user), since: position.revision, limit: limit)
            try expect(page.isResync, position.mustResync(erasures), "resync of the settings of \(user)")
            if page.isResync { devices[index].settings = [:] }
            for setting in page.settings { devices[index].settings[setting.key.text] = setting.value?.text }
            position = .init(revision: page.revision, erasures: erasures)
            if limit == nil || page.settings.count < 2 { break }
        }
        devices[index].settingsPosition = position
        try expect(devices[index].settings, specification.settings(of: user), "settings on device \(index) of \(user)")
    }

    private mutating func synchronizeLists(_ index: Int) async throws {
        let user = devices[index].user
        let erasures = specification.erasures[user] ?? 0
        let position = devices[index].listsPosition
        let page = try await catalog.lists.lists(of: id(of: user), by: nil, since: position.revision)
        try expect(page.isResync, position.mustResync(erasures), "resync of the lists of \(user)")
        if page.isResync { devices[index].lists = [:] }
        for entry in page.entries {
            let name = names.name(entry.membership.list.id.text)
            if entry.membership.isDeleted {
                devices[index].lists[name] = nil
                continue
            }
            let list = try await read(name, devices[index].lists[name], user)
            devices[index].lists[name] = list
            try expect(entry.items, list.shown.itemCount, "number of items of \(name)")
            try expect(entry.checked, list.shown.checkedCount, "number of checked items of \(name)")
        }
        devices[index].listsPosition = .init(revision: page.revision, erasures: erasures)
        let shown = specification.shownLists(of: user)
        try expect(devices[index].lists.mapValues(\.shown), shown, "lists on device \(index) of \(user)")
        try expect(
            page.order?.map { names.name($0.text) } ?? [],
            specification.currentLists(of: user),
            "order of the lists of \(user)"
        )
        let sorted = try await catalog.lists.lists(of: id(of: user), by: nil, since: nil)
        try expect(
            sorted.entries.map { names.name($0.membership.list.id.text) },
            specification.sortedLists(of: user),
            "sorted lists of \(user)"
        )
        try await compareAccess(of: user)
    }

    /// Checks that a user cannot read the lists of others, and that an owner sees the shares and their members.
    private mutating func compareAccess(of user: String) async throws {
        for name in specification.lists.keys.sorted() {
            guard specification.has(user, name) else {
                do {
                    _ = try await catalog.lists.list(names.id(name), of: id(of: user), by: nil)
                    throw Difference("\(user) can read \(name)")
                } catch CatalogError.notFound {}
                continue
            }
            guard specification.lists[name]!.owner == user else { continue }
            let shares = try await catalog.lists.shares(names.id(name), of: id(of: user))
            let found = shares.map { (names.name($0.id.text), "\($0.role.rawValue) \($0.members)") }
            try expect(
                Dictionary(found) { "\($0), \($1)" },
                specification.shares(of: name),
                "shares of \(name)"
            )
        }
    }

    private mutating func synchronizeEvents(_ index: Int) async throws {
        let user = devices[index].user
        let erasures = specification.erasures[user] ?? 0
        let first = devices[index].eventsPosition
        var revision = first.revision
        var events: [Specification.Event] = []
        var isResync = false
        // Small pages: no event may be lost or repeated between them.
        while !isResync {
            let page = try await catalog.versions.changes(of: id(of: user), since: revision, limit: 3)
            try expect(
                page.isResync,
                revision == first.revision && first.mustResync(erasures),
                "resync of the events of \(user)"
            )
            isResync = page.isResync
            events += try page.events.map { names.event(try JSONReader.parse($0.data)) }
            revision = try await isResync ? currentRevision(user) : page.revision
            if page.events.count < 3 { break }
        }
        if !isResync {
            let expected = specification.events(of: user, after: first.event)
            try compare(events, expected, "events on device \(index) of \(user)")
        }
        devices[index].eventsPosition = .init(
            revision: revision,
            erasures: erasures,
            event: specification.eventCount
        )
    }

    /// Compares the export of a user: settings with deleted ones, and lists that the user has not left.
    private mutating func compareExport(of user: String) async throws {
        let export = try await catalog.users.export(id(of: user))
        let account = specification.accounts[user] ?? Specification.Account()
        try expect(
            Dictionary(export.settings.map { ($0.key.text, $0.value?.text ?? "deleted") }) { "\($0), \($1)" },
            account.settings.mapValues { $0.value ?? "deleted" },
            "exported settings of \(user)"
        )
        let held = account.places.filter { $0.value.isActive }.keys
        let expected = held.map { "\($0) \(specification.lists[$0]!.items.count)" }.sorted()
        let found = export.lists.map { "\(names.name($0.list.id.text)) \($0.list.items.count)" }.sorted()
        try expect(found, expected, "exported lists of \(user)")
    }
}
