/// The pages of this folder that a server shows under `/docs/{guide}`, embedded in the program.
package enum Guides {
    /// The names and the Markdown texts, in reading order.
    package static let all: [(name: String, markdown: [UInt8])] = [
        ("quickstart", PackageResources.quickstart_md),
        ("concepts", PackageResources.concepts_md),
        ("sorting", PackageResources.sorting_md),
        ("filters", PackageResources.filters_md),
        ("diffs", PackageResources.diffs_md),
        ("live-events", PackageResources.live_events_md),
        ("remembered-sorts", PackageResources.remembered_sorts_md),
        ("lists", PackageResources.lists_md),
        ("importing", PackageResources.importing_md),
        ("profiles", PackageResources.profiles_md),
        ("sizes", PackageResources.sizes_md),
        ("attributes", PackageResources.attributes_md),
        ("groups", PackageResources.groups_md),
        ("search", PackageResources.search_md),
        ("prices", PackageResources.prices_md),
        ("popularity", PackageResources.popularity_md),
        ("web-storefront", PackageResources.web_storefront_md),
        ("ios-shelf", PackageResources.ios_shelf_md),
        ("merchandiser", PackageResources.merchandiser_md),
        ("nightly-job", PackageResources.nightly_job_md),
        ("errors", PackageResources.errors_md),
        ("faq", PackageResources.faq_md),
    ]

    /// The diagrams of those pages, by the names of their files.
    package static let diagrams: [(name: String, svg: [UInt8])] = [
        ("diff.svg", PackageResources.diff_svg),
        ("sync.svg", PackageResources.sync_svg),
        ("system.svg", PackageResources.system_svg),
    ]
}
