import Ordering

/// Random operations of several users and devices. It chooses most of them so that they have an effect.
struct UserDataGenerator {
    typealias Operation = UserDataOperation

    private static let texts = ["apple", "bread", "candle", "dates"]
    private static let listNames = ["alpha", "beta", "gamma"]
    private static let values = [
        "theme": ["\"dark\"", "\"light\"", "{\"a\":1}"], "a/b": ["1", "true"], "lists.sink_checked": ["true", "false"],
        "lists.sort": ["\"name\"", "\"manual\"", "\"last-modified\""],
    ]
    static let devicesPerUser = 2

    private var random: SeededGenerator
    private var specification = UserDataSpecification()
    private var nameCount = 0
    private var lists: [String] = []
    private var shares: [(name: String, list: String)] = []
    private var requests: [Operation] = []

    private init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static func operations(seed: UInt64, count: Int) -> [Operation] {
        var generator = UserDataGenerator(seed: seed)
        var operations: [Operation] = []
        while operations.count < count {
            let operation = generator.next()
            guard generator.specification.isDefined(operation) else { continue }
            let answer = generator.specification.perform(operation)
            if operation.key != nil, answer == .done { generator.requests.append(operation) }
            operations.append(operation)
        }
        return operations
    }

    // MARK: - Choices

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func choose<T>(_ elements: [T]) -> T { elements.randomElement(using: &random)! }

    private mutating func newName(_ prefix: String) -> String {
        nameCount += 1
        return "\(prefix)\(nameCount)"
    }

    /// Returns a list of a user, or sometimes any other one.
    private mutating func list(of user: String) -> String {
        let own = specification.currentLists(of: user)
        if !own.isEmpty, chance(85) { return choose(own) }
        return lists.isEmpty ? "L0" : choose(lists)
    }

    private mutating func precondition() -> Operation.Precondition {
        chance(70) ? .none : chance(70) ? .currentVersion : .staleVersion
    }

    private mutating func time() -> Operation.Time {
        chance(40) ? .none : chance(85) ? .past(Int.random(in: 0..<12, using: &random)) : .future
    }

    private mutating func target(_ names: [String]) -> Operation.Target {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: .first
        case 1: .last
        case 2: .after(choose(names))
        case 3: .before(choose(names))
        default: .position(Int.random(in: 0...3, using: &random))
        }
    }

    private mutating func next() -> Operation {
        let user = choose(UserDataSpecification.users)
        if !requests.isEmpty, chance(6) { return repeated() }
        let action = action(of: user)
        var operation = Operation(user: user, action: action)
        switch action {
        case .create, .set, .add, .change, .moveItems, .moveLists, .share, .join, .merge:
            if chance(25) { operation.key = newName("key") }
        case .remove, .revoke, .write, .erase, .sync: break
        }
        return operation
    }

    /// Returns an earlier request again, or sometimes another request with the same key.
    private mutating func repeated() -> Operation {
        var operation = choose(requests)
        guard chance(25) else { return operation }
        switch operation.action {
        case .create(let list, let name, let sinks, let sort):
            operation.action = .create(list: list, name: name + "s", sinksChecked: sinks, sort: sort)
        case .add(let list, let items, let precondition):
            let changed = items.map { item in
                var item = item
                item.text += "s"
                return item
            }
            operation.action = .add(list: list, changed, precondition)
        default: break
        }
        return operation
    }

    private mutating func action(of user: String) -> Operation.Action {
        // Most other operations of a user without lists would fail.
        if specification.currentLists(of: user).isEmpty, chance(70) {
            return chance(70) ? creation(by: user) : joining(by: user)
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<7: return creation(by: user)
        case 7..<14: return .set(list: restorable(user), settings(), precondition())
        case 14..<17: return .remove(list: list(of: user), precondition())
        case 17..<32: return addition(to: list(of: user))
        case 32..<47: return changes(of: list(of: user))
        case 47..<55:
            let list = list(of: user)
            let items = specification.lists[list]?.order ?? []
            guard !items.isEmpty else { return addition(to: list) }
            return .moveItems([choose(items)], target(items), list: list, precondition())
        case 55..<59:
            let own = specification.accounts[user]?.order ?? []
            guard !own.isEmpty else { return .sync(device: device(of: user), parts()) }
            return .moveLists([choose(own)], target(own))
        case 59..<65:
            let share = newName("S")
            let list = list(of: user)
            shares.append((share, list))
            return .share(share, list: list, role: chance(60) ? "editor" : "reader", isExpired: chance(10))
        case 65..<70:
            guard !shares.isEmpty else { return .sync(device: device(of: user), parts()) }
            let own = shares.filter { specification.lists[$0.list]?.owner == user }
            let share = choose(own.isEmpty || chance(20) ? shares : own)
            return .revoke(share.name, list: share.list)
        case 70..<77: return joining(by: user)
        case 77..<87: return write()
        case 87..<89: return chance(50) ? .erase : .merge(guest: "guest:tim")
        case 89..<93:
            return user.hasPrefix("guest:") ? .sync(device: device(of: user), parts()) : .merge(guest: "guest:tim")
        default: return .sync(device: device(of: user), parts())
        }
    }

    private mutating func creation(by user: String) -> Operation.Action {
        let isNew = chance(70)
        let name = isNew ? newName("L") : restorable(user)
        if isNew { lists.append(name) }
        let sinks: Bool? = chance(50) ? nil : chance(50)
        return .create(list: name, name: choose(Self.listNames), sinksChecked: sinks, sort: sort())
    }

    private mutating func joining(by user: String) -> Operation.Action {
        let open = shares.filter { share in
            specification.lists[share.list]?.shares[share.name] != nil && !specification.has(user, share.list)
        }
        return .join(shares.isEmpty || chance(4) ? "S0" : choose(open.isEmpty || chance(30) ? shares : open).name)
    }

    private mutating func sort() -> String { chance(60) ? "position" : chance(50) ? "name" : "-name" }

    /// Returns a list of a user, sometimes a deleted one.
    private mutating func restorable(_ user: String) -> String {
        let deleted = (specification.accounts[user]?.order ?? []).filter { !specification.has(user, $0) }
        return !deleted.isEmpty && chance(40) ? choose(deleted) : list(of: user)
    }

    private mutating func settings() -> Operation.Settings {
        Operation.Settings(
            name: chance(50) ? choose(Self.listNames) : nil,
            sinksChecked: chance(30) ? chance(50) : nil,
            sort: chance(30) ? sort() : nil,
            isDeleted: chance(45) ? chance(20) : nil
        )
    }

    private mutating func addition(to list: String) -> Operation.Action {
        let known = specification.lists[list]?.order ?? []
        let items = (0..<Int.random(in: 1...3, using: &random)).map { number in
            // A device may add an item again.
            let name = number == 0 && !known.isEmpty && chance(10) ? choose(known) : newName("I")
            return Operation.NewItem(
                name: name,
                text: choose(Self.texts),
                quantity: "\(Int.random(in: 1...9, using: &random))",
                isChecked: chance(25)
            )
        }
        return .add(list: list, items, precondition())
    }

    private mutating func changes(of list: String) -> Operation.Action {
        let known = specification.lists[list]?.order ?? []
        guard !known.isEmpty else { return addition(to: list) }
        var names = [choose(known)]
        if chance(25) { names.append(choose(known)) }
        if chance(5) { names.append("I0") }
        if Set(names).count < names.count { names = [names[0]] }
        let changes = names.map { name in
            var fields: [String: String] = [:]
            if chance(35) { fields["text"] = choose(Self.texts) }
            if chance(35) { fields["quantity"] = "\(Int.random(in: 1...9, using: &random))" }
            if chance(35) { fields["note"] = choose(["", "soft", "ripe"]) }
            if chance(45) { fields["checked"] = choose(["true", "false"]) }
            if chance(30) { fields["deleted"] = choose(["true", "false"]) }
            return Operation.ItemChange(name: name, fields: fields, time: time())
        }
        return .change(list: list, changes, precondition())
    }

    private mutating func write() -> Operation.Action {
        let keys = Self.values.keys.sorted().shuffled(using: &random)
        func value(_ key: String, _ generator: inout UserDataGenerator) -> String? {
            generator.chance(25) ? nil : generator.choose(Self.values[key]!)
        }
        if chance(40) {
            let writes = keys.prefix(2).map { key in
                // A device that was offline gives the time of each change.
                let moment = time()
                let given = moment.isGiven ? moment : .past(5)
                return Operation.Write(setting: key, value: value(key, &self), time: given)
            }
            return .write(writes, .none)
        }
        let precondition: Operation.Precondition =
            chance(50) ? .none : choose([.present, .absent, .currentVersion, .currentVersion, .staleVersion])
        return .write([Operation.Write(setting: keys[0], value: value(keys[0], &self), time: .none)], precondition)
    }

    private mutating func device(of user: String) -> Int {
        let index = UserDataSpecification.users.firstIndex(of: user)!
        return index + UserDataSpecification.users.count * Int.random(in: 0..<Self.devicesPerUser, using: &random)
    }

    private mutating func parts() -> Operation.Parts {
        chance(50) ? .init() : .init(settings: chance(50), lists: chance(50), events: chance(50))
    }
}
