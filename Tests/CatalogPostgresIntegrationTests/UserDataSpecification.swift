/// A specification of users' settings and lists: dictionaries, and the rules of the API in their simplest form.
///
/// It shares no code with the stores. A time is a number: one before the run, or the number of a step after `startOfRun`.
struct UserDataSpecification {
    typealias Operation = UserDataOperation

    enum Refusal: String, Error {
        case notFound, forbidden, stale, conflict, invalid, keyReused
    }

    enum Answer: Equatable {
        case done
        /// The recorded response of the first request.
        case repeated
        case refused(Refusal)
    }

    struct Setting {
        /// JSON; nil for a deleted setting.
        var value: String?
        var changedAt: Int
        /// The number of the event of the last change.
        var number: Int
    }

    struct Item {
        var fields: [String: String]
        /// When each field was last changed; absent for the values of a new item.
        var changedAt: [String: Int] = [:]
    }

    struct List {
        var owner: String
        var name: String
        var sinksChecked: Bool
        var sort: String
        var isDeleted = false
        var modifiedAt: Int
        /// The number of changes.
        var changes = 0
        var items: [String: Item] = [:]
        /// All items in the manual order; deleted ones keep their place.
        var order: [String] = []
        var shares: [String: (role: String, isExpired: Bool)] = [:]
    }

    /// A user's membership in a list.
    struct Place {
        var role: String
        /// The share through which the user joined.
        var share: String?
        var isActive = true
        /// Whether the list no longer exists, because its owner was erased.
        var isOrphaned = false
    }

    struct Event: Equatable, CustomStringConvertible {
        /// The key of the setting, the name of the list, or "order of lists".
        var subject: String
        var content: String

        var description: String { "\(subject): \(content)" }
    }

    struct Account {
        var settings: [String: Setting] = [:]
        var places: [String: Place] = [:]
        /// All lists in the user's order; deleted and left ones keep their place.
        var order: [String] = []
        /// The events that a device can still receive.
        var events: [(number: Int, event: Event)] = []
        /// The requests that were performed, by idempotency key.
        var requests: [String: String] = [:]
    }

    /// A list as a device shows it.
    struct ShownList: Equatable {
        var name: String
        var role: String
        var sinksChecked: Bool
        var sort: String
        var itemCount: Int
        var checkedCount: Int
        /// The items in display order.
        var items: [String]
    }

    static let users = ["ann", "bob", "eve", "guest:tim"]
    static let startOfRun = 1000
    static let orderOfLists = "order of lists"

    private(set) var accounts: [String: Account] = [:]
    /// The number of times that each user was erased.
    private(set) var erasures: [String: Int] = [:]
    private(set) var lists: [String: List] = [:]
    /// The number of events until now.
    private(set) var eventCount = 0
    /// Which writes of the last edit of settings won.
    private(set) var applied: [Bool] = []
    private var now = UserDataSpecification.startOfRun

    // MARK: - What devices show

    func settings(of user: String) -> [String: String] {
        (accounts[user]?.settings ?? [:]).compactMapValues(\.value)
    }

    /// Returns the lists that a user has, in the user's order.
    func currentLists(of user: String) -> [String] {
        (accounts[user]?.order ?? []).filter { has(user, $0) }
    }

    /// Returns whether a user has a list that is not deleted.
    func has(_ user: String, _ list: String) -> Bool {
        accounts[user]?.places[list]?.isActive == true && lists[list]?.isDeleted == false
    }

    func shownLists(of user: String) -> [String: ShownList] {
        var shown: [String: ShownList] = [:]
        for name in currentLists(of: user) {
            let list = lists[name]!
            let items = displayOrder(of: list)
            shown[name] = ShownList(
                name: list.name,
                role: accounts[user]!.places[name]!.role,
                sinksChecked: list.sinksChecked,
                sort: list.sort,
                itemCount: items.count,
                checkedCount: items.count { list.items[$0]!.fields["checked"] == "true" },
                items: items.map { Self.text(of: $0, list.items[$0]!) }
            )
        }
        return shown
    }

    static func text(of name: String, _ item: Item) -> String {
        "\(name) \(item.fields["text"]!) \(item.fields["quantity"]!) \(item.fields["note"]!) \(item.fields["checked"]!)"
    }

    private func displayOrder(of list: List) -> [String] {
        let current = list.order.filter { list.items[$0]!.fields["deleted"] == "false" }
        func isChecked(_ name: String) -> Bool { list.items[name]!.fields["checked"] == "true" }
        func comesBefore(_ a: (offset: Int, element: String), _ b: (offset: Int, element: String)) -> Bool {
            if list.sinksChecked, isChecked(a.element) != isChecked(b.element) { return isChecked(b.element) }
            let (x, y) = (list.items[a.element]!.fields["text"]!, list.items[b.element]!.fields["text"]!)
            if list.sort != "position", x != y { return list.sort == "name" ? x < y : x > y }
            return a.offset < b.offset
        }
        return current.enumerated().sorted(by: comesBefore).map(\.element)
    }

    /// Returns a user's lists in the order of the setting `lists.sort`.
    func sortedLists(of user: String) -> [String] {
        let current = Array(currentLists(of: user).enumerated())
        let sort = settings(of: user)["lists.sort"] ?? "\"last-modified\""
        return current.sorted { a, b in
            let (x, y) = (lists[a.element]!, lists[b.element]!)
            if sort == "\"name\"", x.name != y.name { return x.name < y.name }
            if sort == "\"last-modified\"", x.modifiedAt != y.modifiedAt { return x.modifiedAt > y.modifiedAt }
            return a.offset < b.offset
        }.map(\.element)
    }

    /// Returns the events of a user after an event, in order.
    func events(of user: String, after number: Int) -> [Event] {
        (accounts[user]?.events ?? []).filter { $0.number > number }.map(\.event)
    }

    /// Returns the shares of a list, also expired ones, with the numbers of their members.
    func shares(of name: String) -> [String: String] {
        (lists[name]?.shares ?? [:]).reduce(into: [:]) { result, share in
            let members = accounts.values.count { $0.places[name]?.share == share.key && $0.places[name]!.isActive }
            result[share.key] = "\(share.value.role) \(members)"
        }
    }

    // MARK: - Operations

    /// Returns whether the documents say what an operation does.
    func isDefined(_ operation: Operation) -> Bool {
        let account = accounts[operation.user] ?? Account()
        switch operation.action {
        case .create(let name, _, _, _):
            // Another user may have a list with the same id. Other tests compare these cases.
            let isOther = lists[name].map { $0.owner != operation.user } ?? false
            return !isOther && account.places[name]?.isOrphaned != true
        case .merge(let guest):
            let brought = lists.filter { $0.value.owner == guest }.keys
            let isKnown = !account.settings.isEmpty || !account.places.isEmpty
            return operation.user != guest && isKnown && brought.allSatisfy { account.places[$0]?.isOrphaned != true }
        default: return true
        }
    }

    mutating func perform(_ operation: Operation) -> Answer {
        now += 1
        var copy = self
        do throws(Refusal) {
            if let key = operation.key, let first = accounts[operation.user]?.requests[key] {
                if let list = operation.editedList, accounts[operation.user]!.places[list]?.isActive != true {
                    throw .notFound
                }
                guard first == operation.body else { throw .keyReused }
                return .repeated
            }
            try copy.apply(operation)
        } catch {
            return .refused(error)
        }
        if let key = operation.key { copy.accounts[operation.user, default: Account()].requests[key] = operation.body }
        self = copy
        return .done
    }

    private mutating func apply(_ operation: Operation) throws(Refusal) {
        let user = operation.user
        switch operation.action {
        case .create(let name, let title, let sinksChecked, let sort):
            if accounts[user]?.places[name] != nil {
                guard has(user, name) else { throw .conflict }
                return
            }
            let sinks = sinksChecked ?? (settings(of: user)["lists.sink_checked"] != "false")
            lists[name] = List(owner: user, name: title, sinksChecked: sinks, sort: sort, modifiedAt: now)
            join(name, user, "owner", share: nil)
        case .set(let name, let settings, let precondition):
            var list = try editable(name, user, isRestoring: settings.isDeleted == false)
            if settings.isDeleted != nil, list.owner != user { throw .forbidden }
            try check(precondition)
            let wasDeleted = list.isDeleted
            let before = (list.name, list.sinksChecked, list.sort, list.isDeleted)
            list.name = settings.name ?? list.name
            list.sinksChecked = settings.sinksChecked ?? list.sinksChecked
            list.sort = settings.sort ?? list.sort
            list.isDeleted = settings.isDeleted ?? list.isDeleted
            guard before != (list.name, list.sinksChecked, list.sort, list.isDeleted) else { return }
            store(list, as: name, edited: [], isRestored: wasDeleted && !list.isDeleted)
        case .remove(let name, let precondition):
            guard has(user, name), var list = lists[name] else { throw .notFound }
            try check(precondition)
            if list.owner == user {
                list.isDeleted = true
                store(list, as: name, edited: [])
            } else {
                leave(name, user)
            }
        case .add(let name, let items, let precondition):
            var list = try editable(name, user)
            try check(precondition)
            var added: [String] = []
            for item in items where list.items[item.name] == nil {
                list.items[item.name] = Item(fields: [
                    "text": item.text, "quantity": item.quantity, "note": "", "checked": "\(item.isChecked)",
                    "deleted": "false",
                ])
                list.order.append(item.name)
                added.append(item.name)
            }
            if !added.isEmpty { store(list, as: name, edited: added) }
        case .change(let name, let changes, let precondition):
            var list = try editable(name, user)
            try check(precondition)
            var edited: [String] = []
            for change in changes {
                guard var item = list.items[change.name] else {
                    if changes.count == 1 { throw .notFound }
                    continue
                }
                let before = item.fields
                for (field, value) in change.fields {
                    let time = moment(change.time)
                    let last = change.time.isGiven ? item.changedAt[field] : nil
                    if let last, last >= time { continue }
                    item.fields[field] = value
                    item.changedAt[field] = time
                }
                list.items[change.name] = item
                if item.fields != before { edited.append(change.name) }
            }
            // A change without effect is remembered: an older one cannot win later.
            if edited.isEmpty { lists[name] = list } else { store(list, as: name, edited: edited) }
        case .moveItems(let items, let target, let name, let precondition):
            var list = try editable(name, user)
            try check(precondition)
            let isShown = { [items = list.items] (item: String) in items[item]?.fields["deleted"] == "false" }
            guard let order = try Self.move(items, target, in: list.order, isShown) else { return }
            list.order = order
            store(list, as: name, edited: [])
        case .moveLists(let names, let target):
            let specification = self
            let order = accounts[user]?.order ?? []
            guard let moved = try Self.move(names, target, in: order, { specification.has(user, $0) }) else { return }
            accounts[user]!.order = moved
            record(Event(subject: Self.orderOfLists, content: "moved"), for: user)
        case .share(let share, let name, let role, let isExpired):
            guard has(user, name) else { throw .notFound }
            guard lists[name]!.owner == user else { throw .forbidden }
            lists[name]!.shares[share] = (role, isExpired)
        case .revoke(let share, let name):
            guard has(user, name) else { throw .notFound }
            guard lists[name]!.owner == user else { throw .forbidden }
            guard lists[name]!.shares.removeValue(forKey: share) != nil else { throw .notFound }
            for (member, account) in accounts where account.places[name]?.share == share { leave(name, member) }
        case .join(let share):
            guard let (name, list) = lists.first(where: { $0.value.shares[share] != nil }), !list.isDeleted,
                let found = list.shares[share], !found.isExpired
            else { throw .notFound }
            join(name, user, found.role, share: share)
        case .write(let writes, let precondition): try write(writes, precondition, user)
        case .merge(let guest): merge(guest, into: user)
        case .erase: erase(user)
        case .sync: break
        }
    }

    // MARK: - Lists

    /// Returns a list that a user may change.
    private func editable(_ name: String, _ user: String, isRestoring: Bool = false) throws(Refusal) -> List {
        guard let place = accounts[user]?.places[name], place.isActive, let list = lists[name],
            !list.isDeleted || isRestoring
        else { throw .notFound }
        guard place.role != "reader" else { throw .forbidden }
        return list
    }

    private func check(_ precondition: Operation.Precondition) throws(Refusal) {
        if case .staleVersion = precondition { throw .stale }
    }

    /// Stores a changed list and announces the change to its members.
    private mutating func store(_ list: List, as name: String, edited: [String], isRestored: Bool = false) {
        var list = list
        list.changes += 1
        list.modifiedAt = now
        lists[name] = list
        let items = edited.sorted().map { item in
            Self.text(of: item, list.items[item]!) + " \(list.items[item]!.fields["deleted"]!)"
        }
        let content =
            isRestored
            ? Self.announcement(list)
            : "\(list.name) \(list.sinksChecked) \(list.sort) deleted: \(list.isDeleted) \(items)"
        for (user, account) in accounts where account.places[name]?.isActive == true {
            record(Event(subject: name, content: content), for: user)
        }
    }

    /// The content of the event for a list that a device must read.
    private static func announcement(_ list: List) -> String { "read \(list.name) deleted: \(list.isDeleted)" }

    /// Makes a user a member, unless the user has a role that permits as much.
    private mutating func join(_ name: String, _ user: String, _ role: String, share: String?) {
        let known = accounts[user]?.places[name]
        if let known, known.isActive, known.role == role || known.role != "reader", role != "owner" { return }
        if known == nil { accounts[user, default: Account()].order.append(name) }
        accounts[user]!.places[name] = Place(role: role, share: share)
        record(Event(subject: name, content: Self.announcement(lists[name]!)), for: user)
    }

    private mutating func leave(_ name: String, _ user: String) {
        guard accounts[user]?.places[name]?.isActive == true else { return }
        accounts[user]!.places[name]!.isActive = false
        // A former member receives only the departure.
        accounts[user]!.events.removeAll { $0.event.subject == name }
        record(Event(subject: name, content: "left"), for: user)
    }

    private mutating func record(_ event: Event, for user: String) {
        eventCount += 1
        accounts[user, default: Account()].events.append((eventCount, event))
    }

    /// Returns an order after a move; nil if the shown elements do not move. Hidden elements keep their place.
    private static func move(
        _ names: [String],
        _ target: Operation.Target,
        in order: [String],
        _ isShown: (String) -> Bool
    ) throws(Refusal) -> [String]? {
        let anchor = target.anchor
        guard (names + [anchor].compactMap { $0 }).allSatisfy({ order.contains($0) && isShown($0) }) else {
            throw .invalid
        }
        if names == [anchor] { return nil }
        var moved = order.filter { !names.contains($0) }
        let index =
            switch target {
            case .first: 0
            case .last: moved.count
            case .after(let anchor): moved.firstIndex(of: anchor)! + 1
            case .before(let anchor): moved.firstIndex(of: anchor)!
            case .position(let position):
                moved.indices.filter { isShown(moved[$0]) }.dropFirst(position).first ?? moved.count
            }
        moved.insert(contentsOf: names, at: index)
        return moved.filter(isShown) == order.filter(isShown) ? nil : moved
    }

    // MARK: - Settings

    private func moment(_ time: Operation.Time) -> Int {
        switch time {
        case .none, .future: now
        case .past(let number): number
        }
    }

    private mutating func write(
        _ writes: [Operation.Write],
        _ precondition: Operation.Precondition,
        _ user: String
    ) throws(Refusal) {
        applied = []
        for write in writes {
            let known = accounts[user]?.settings[write.setting]
            let exists = known?.value != nil
            switch precondition {
            case .none: break
            case .present, .currentVersion: guard exists else { throw .stale }
            case .absent: guard !exists else { throw .stale }
            case .staleVersion: throw .stale
            }
            // Without a time, only the deletion of a missing setting has no effect.
            let wins =
                write.time.isGiven
                ? known.map { $0.changedAt < moment(write.time) } ?? true : write.value != nil || exists
            applied.append(wins)
            if wins { set(write.setting, write.value, at: moment(write.time), user) }
        }
    }

    private mutating func set(_ setting: String, _ value: String?, at time: Int, _ user: String) {
        // Only the last change of a setting is an event.
        accounts[user]?.events.removeAll { $0.event.subject == setting }
        record(Event(subject: setting, content: value ?? "deleted"), for: user)
        accounts[user]!.settings[setting] = Setting(value: value, changedAt: time, number: eventCount)
    }

    // MARK: - Accounts

    private mutating func merge(_ guest: String, into user: String) {
        let brought = accounts[guest] ?? Account()
        applied = []
        for (key, setting) in brought.settings.sorted(by: { $0.value.number < $1.value.number }) {
            guard let value = setting.value else { continue }
            let wins = accounts[user]?.settings[key].map { $0.changedAt < setting.changedAt } ?? true
            applied.append(wins)
            if wins { set(key, value, at: setting.changedAt, user) }
        }
        for name in brought.order where lists[name]?.owner == guest {
            lists[name]!.owner = user
            join(name, user, "owner", share: nil)
        }
        for name in brought.order {
            guard let place = brought.places[name], place.isActive, place.role != "owner", lists[name] != nil else {
                continue
            }
            join(name, user, place.role, share: place.share)
        }
        accounts[guest] = nil
        erasures[guest, default: 0] += 1
    }

    private mutating func erase(_ user: String) {
        for (name, list) in lists where list.owner == user {
            for member in Array(accounts.keys) where member != user && accounts[member]!.places[name] != nil {
                leave(name, member)
                accounts[member]!.places[name]!.isOrphaned = true
            }
            lists[name] = nil
        }
        accounts[user] = nil
        erasures[user, default: 0] += 1
    }
}

extension UserDataOperation {
    /// The list that the operation edits or shares.
    fileprivate var editedList: String? {
        switch action {
        case .set(let list, _, _), .add(let list, _, _), .change(let list, _, _), .moveItems(_, _, let list, _),
            .share(_, let list, _, _):
            list
        default: nil
        }
    }
}
