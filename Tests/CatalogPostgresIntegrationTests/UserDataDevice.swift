import AisleDiff
import Catalog
import Foundation
import JSON
import TestSupport

/// A device of a user. It knows only what it reads and receives.
struct UserDataDevice {
    /// A list that the device shows.
    struct ShownList {
        var version: Int64 = 0
        private var name = ""
        private var role = ""
        private var sinksChecked = false
        private var sort = ""
        private var items: [String: (text: String, isChecked: Bool)] = [:]
        private var order: [String] = []

        init() {}

        /// Reads the list with its items, or with those that changed since the version that the device shows.
        mutating func read(_ json: JSONValue, _ names: UserDataNames) {
            if json["resync"] == .bool(true) { items = [:] }
            role = json["list"]?["role"]?.string ?? ""
            readHead(json["list"] ?? .null)
            readItems(json, names)
            let ids = json["order"]?.elements ?? json["items"]?.elements?.compactMap { $0["id"] } ?? []
            order = ids.map { $0.string ?? "" }
        }

        /// Applies an event.
        ///
        /// - Returns: the fault; nil if there is none.
        mutating func apply(_ json: JSONValue, _ names: UserDataNames) -> String? {
            guard let diff = json["diff"], diff["from_version"]?.text == "\(version)" else {
                return "the event does not follow version \(version): \(json.text)"
            }
            do {
                order = try JSONDecoder().decode(ShelfDiff<NoProduct>.self, from: Data(diff.text.utf8)).apply(to: order)
            } catch {
                return "the diff cannot be applied: \(error)"
            }
            let next = Int64(json["version"]?.text ?? "") ?? 0
            guard next > version else { return "version \(next) follows \(version)" }
            readHead(json["list"] ?? .null)
            readItems(json, names)
            return nil
        }

        private mutating func readHead(_ json: JSONValue) {
            name = json["name"]?.string ?? ""
            sinksChecked = json["auto_sort"] == .bool(true)
            sort = json["sort"]?.string ?? ""
            version = Int64(json["version"]?.text ?? "") ?? 0
        }

        private mutating func readItems(_ json: JSONValue, _ names: UserDataNames) {
            for item in json["items"]?.elements ?? [] {
                items[item["id"]?.string ?? ""] = (names.text(ofItem: item), item["checked"] == .bool(true))
            }
        }

        var shown: UserDataSpecification.ShownList {
            UserDataSpecification.ShownList(
                name: name,
                role: role,
                sinksChecked: sinksChecked,
                sort: sort,
                itemCount: order.count,
                checkedCount: order.count { items[$0]?.isChecked ?? false },
                items: order.map { items[$0]?.text ?? "missing \($0)" }
            )
        }
    }

    /// A revision from which the device continues, and the state of the specification at that time.
    struct Position {
        var revision: Int64 = 0
        var erasures = 0
        /// The number of the last event.
        var event = 0

        /// Whether the device must resync: the account that it knows was erased.
        func mustResync(_ erasures: Int) -> Bool { revision > 0 && erasures != self.erasures }
    }

    let user: String
    var settings: [String: String] = [:]
    var lists: [String: ShownList] = [:]
    var settingsPosition = Position()
    var listsPosition = Position()
    var eventsPosition = Position()

    init(_ user: String) { self.user = user }
}

/// The short names of the ids of a run.
struct UserDataNames {
    private var ids: [String: UniqueID] = [:]
    private var names: [String: String] = [:]

    mutating func id(_ name: String) -> UniqueID {
        if let known = ids[name] { return known }
        let id = UniqueID.random()
        ids[name] = id
        names[id.text] = name
        return id
    }

    func name(_ id: String?) -> String { id.flatMap { names[$0] } ?? id ?? "nothing" }

    func text(ofItem json: JSONValue) -> String {
        let note = json["note"]?.string ?? ""
        let (text, quantity) = (json["text"]?.string ?? "", json["quantity"]?.string ?? "")
        return "\(name(json["id"]?.string)) \(text) \(quantity) \(note) \(json["checked"] == .bool(true))"
    }

    /// Returns an event in the form of the specification.
    func event(_ json: JSONValue) -> UserDataSpecification.Event {
        if let key = json["key"]?.string {
            let value = json["deleted"] == .bool(true) ? "deleted" : json["value"]?.text ?? "nothing"
            return .init(subject: key, content: value)
        }
        guard let list = json["list"] else {
            return .init(
                subject: UserDataSpecification.orderOfLists,
                content: json["diff"] == nil ? "nothing" : "moved"
            )
        }
        let (id, isDeleted) = (name(list["id"]?.string), list["deleted"] == .bool(true))
        guard json["version"] != nil else {
            // A former member learns only the id.
            let isShort = list.members?.count == 2 && json.members?.count == 1 && isDeleted
            return .init(subject: id, content: isShort ? "left" : json.text)
        }
        let title = list["name"]?.string ?? ""
        if json["resync"] == .bool(true) { return .init(subject: id, content: "read \(title) deleted: \(isDeleted)") }
        let items = (json["items"]?.elements ?? []).map { "\(text(ofItem: $0)) \($0["deleted"] == .bool(true))" }
            .sorted()
        let head = "\(title) \(list["auto_sort"] == .bool(true)) \(list["sort"]?.string ?? "")"
        return .init(subject: id, content: "\(head) deleted: \(isDeleted) \(items)")
    }
}
