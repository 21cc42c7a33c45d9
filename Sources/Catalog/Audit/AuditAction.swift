/// A kind of change in the audit log, by its name in the API and the database.
package enum AuditAction: String, CaseIterable, Sendable, Hashable {
    case storeCreate = "store.create"
    case storeChange = "store.change"
    case storeDelete = "store.delete"
    case shelfCreate = "shelf.create"
    case shelfChange = "shelf.change"
    case shelfDelete = "shelf.delete"
    /// The order of a store's shelves.
    case shelvesMove = "shelves.move"
    case productCreate = "product.create"
    case productChange = "product.change"
    case productDelete = "product.delete"
    case placementCreate = "placement.create"
    case placementDelete = "placement.delete"
    /// An attribute that a store declares, or its titles for one of the deployment.
    case attributePut = "attribute.put"
    case attributeDelete = "attribute.delete"
    case synonymsPut = "synonyms.put"
    case synonymsDelete = "synonyms.delete"
    case pricesSet = "prices.set"
    case orderMove = "order.move"
    case orderSet = "order.set"
    case orderSnapshot = "order.snapshot"
    case orderUndo = "order.undo"
    case purchasesAdd = "purchases.add"
    case importApply = "import.apply"
    case resortRun = "resort.run"

    case settingsChange = "settings.change"
    case listCreate = "list.create"
    case listChange = "list.change"
    case listDelete = "list.delete"
    case listShare = "list.share"
    case listRevoke = "list.revoke"
    case listJoin = "list.join"
    case listLeave = "list.leave"
    /// A list that a guest brings to an account.
    case listMerge = "list.merge"
    /// The order of a user's lists.
    case listsMove = "lists.move"
    case userMerge = "user.merge"
    case userExport = "user.export"
    case userErase = "user.erase"
    case purchasesAnonymize = "purchases.anonymize"

    /// A profile of imports, in the log of who changed it.
    case importProfilePut = "import-profile.put"
    case importProfileDelete = "import-profile.delete"
    /// An attribute of the deployment, in the log of who changed it.
    case deploymentAttributePut = "deployment-attribute.put"
    case deploymentAttributeDelete = "deployment-attribute.delete"
    /// The synonyms of the deployment, in the log of who changed them.
    case deploymentSynonymsPut = "deployment-synonyms.put"
    case deploymentSynonymsDelete = "deployment-synonyms.delete"

    /// Whether the action concerns a user's own data, not a store.
    package var concernsUser: Bool {
        switch self {
        case .storeCreate, .storeChange, .storeDelete, .shelfCreate, .shelfChange, .shelfDelete, .shelvesMove,
            .productCreate, .productChange, .productDelete, .placementCreate, .placementDelete, .attributePut,
            .attributeDelete, .synonymsPut, .synonymsDelete, .pricesSet, .orderMove, .orderSet, .orderSnapshot,
            .orderUndo, .purchasesAdd,
            .importApply,
            .resortRun:
            false
        case .settingsChange, .listCreate, .listChange, .listDelete, .listShare, .listRevoke, .listJoin, .listLeave,
            .listMerge, .listsMove, .userMerge, .userExport, .userErase, .purchasesAnonymize, .importProfilePut,
            .importProfileDelete, .deploymentAttributePut, .deploymentAttributeDelete, .deploymentSynonymsPut,
            .deploymentSynonymsDelete:
            true
        }
    }

    /// The actions in the log of a store.
    package static let ofStores = allCases.filter { !$0.concernsUser }
    /// The actions in the log of a user.
    package static let ofUsers = allCases.filter(\.concernsUser)
}
