/// An operation of a user or a device. Lists, items and shares have short names, so that any part of a run can be repeated on its own.
struct UserDataOperation: CustomStringConvertible {
    var user: String
    var action: Action
    /// The idempotency key; nil for none.
    var key: String?

    enum Action {
        case create(list: String, name: String, sinksChecked: Bool?, sort: String)
        case set(list: String, Settings, Precondition)
        /// Deletes an own list, or leaves a joined one.
        case remove(list: String, Precondition)
        case add(list: String, [NewItem], Precondition)
        case change(list: String, [ItemChange], Precondition)
        case moveItems([String], Target, list: String, Precondition)
        case moveLists([String], Target)
        case share(String, list: String, role: String, isExpired: Bool)
        case revoke(String, list: String)
        case join(String)
        case write([Write], Precondition)
        case merge(guest: String)
        case erase
        case sync(device: Int, Parts)
    }

    struct Settings {
        var name: String?
        var sinksChecked: Bool?
        var sort: String?
        var isDeleted: Bool?
    }

    struct NewItem {
        var name: String
        var text: String
        var quantity: String
        var isChecked: Bool
    }

    struct ItemChange {
        var name: String
        /// New values by field: text, quantity, note (empty for none), checked, deleted.
        var fields: [String: String]
        var time: Time
    }

    struct Write {
        var setting: String
        /// The value as JSON; nil deletes the setting.
        var value: String?
        var time: Time
    }

    /// The time that a device gives for a change.
    enum Time {
        case none
        /// A time before the run; a larger number is later.
        case past(Int)
        case future

        var isGiven: Bool { if case .none = self { false } else { true } }
    }

    enum Precondition {
        case none
        case currentVersion
        case staleVersion
        /// For settings only.
        case present, absent
    }

    enum Target {
        case first, last
        case after(String)
        case before(String)
        case position(Int)

        var anchor: String? {
            switch self {
            case .after(let name), .before(let name): name
            case .first, .last, .position: nil
            }
        }
    }

    /// The parts that a device synchronizes.
    struct Parts {
        var settings = true
        var lists = true
        var events = true
    }

    /// The content of the request, which must be the same in a repeat.
    var body: String { "\(action)" }

    var description: String { "\(user): \(action)\(key.map { ", key \($0)" } ?? "")" }
}
