package import Catalog

extension ImportProfile {
    /// The profiles that every deployment has, by name.
    package static let builtIn: [(name: String, profile: ImportProfile)] = [
        ("croatian-price-list", croatianPriceList), ("google-merchant", googleMerchant),
        ("open-food-facts", openFoodFacts), ("shopify", shopify), ("woocommerce", wooCommerce),
    ].map { name, document in
        do throws(CatalogError) { return (name, try ImportProfile(document: Array(document.utf8))) } catch {
            preconditionFailure("the built-in profile \(name) is invalid: \(error)")
        }
    }

    /// Returns a profile that every deployment has; nil for another name.
    package static func builtIn(_ name: String) -> ImportProfile? { builtIn.first { $0.name == name }?.profile }

    /// Source: Google Merchant Center Help, “Product data specification”. A measure is the total of what is sold for the
    /// price, so `multipack` does not multiply it. `size` is the size of clothes.
    private static let googleMerchant = """
        {
          "title": "Product feeds of Google Merchant Center (TSV and XML)",
          "columns": {
            "sku": ["g:id", "id"],
            "name": ["title", "structured_title.content"],
            "brand": "brand",
            "price": "price",
            "promo_price": "sale_price",
            "promo_from": "sale_price_effective_date",
            "promo_to": "sale_price_effective_date",
            "shelf": "product_type",
            "size": "unit_pricing_measure",
            "in_stock": "availability",
            "barcode": "gtin",
            "image_url": "image_link",
            "group": "item_group_id"
          },
          "attributes": {
            "color": "color", "condition": "condition", "description": ["description", "summary", "content"],
            "google_category": "google_product_category",
            "highlights": {"column": "product_highlight", "all_of": ", "},
            "images": {"column": "additional_image_link", "all_of": ", "}, "link": "link", "material": "material", "mpn": "mpn", "size": "size"
          },
          "rows": [{"column": "pause", "is": ["", "ads"]}],
          "words": {"units": {"floz": "floz_us", "pt": "pt_us", "qt": "qt_us", "gal": "gal_us", "cbm": "m3", "sqft": "ft2"}},
          "separators": {"shelf": "|"},
          "shelf_path": ">",
          "size_from_name": true
        }
        """

    /// Source: Shopify Help Center, “Using CSV files to import and export products”: the titles of today's template and of
    /// the one before.
    private static let shopify = """
        {
          "title": "Product exports of Shopify (CSV)",
          "format": "csv",
          "columns": {
            "sku": {
              "column": [
                "Variant SKU", "SKU", "Variant Barcode", "Barcode",
                ["Handle", "Option1 Value", "Option2 Value", "Option3 Value"],
                ["URL handle", "Option1 Value", "Option2 Value", "Option3 Value"]
              ],
              "ignored": ["Default Title"]
            },
            "name": {
              "column": [["Title", "Option1 Value", "Option2 Value", "Option3 Value"]],
              "ignored": ["Default Title"]
            },
            "brand": "Vendor",
            "price": ["Variant Price", "Price"],
            "regular_price": ["Variant Compare At Price", "Compare-at price"],
            "shelf": ["Type", "Custom Product Type", "Product Category", "Standardized Product Type"],
            "size": ["Unit Price Total Measure"],
            "unit": ["Unit Price Total Measure Unit"],
            "tags": "Tags",
            "in_stock": {
              "column": ["Variant Inventory Qty", "Inventory quantity"],
              "when": [
                {"column": ["Variant Inventory Tracker", "Inventory tracker"], "is": ["*"]},
                {"column": ["Variant Inventory Policy", "Continue selling when out of stock"], "is": ["deny", "false", ""]}
              ],
              "constant": "true"
            },
            "barcode": ["Variant Barcode", "Barcode"],
            "image_url": ["Variant Image", "Variant image URL", "Image Src", "Product image URL"],
            "group": ["Handle", "URL handle"]
          },
          "attributes": {
            "description": ["Body (HTML)", "Description"], "handle": ["Handle", "URL handle"],
            "seo_title": "SEO Title"
          },
          "rows": [
            {"column": ["Variant Price", "Price", "Option1 Value"], "is": ["*"]},
            {"column": "Status", "is": ["active", ""]},
            {"column": ["Published", "Published on online store"], "is": ["true", "1", ""]}
          ],
          "variants": {
            "column": ["Handle", "URL handle"],
            "inherit": [
              "Title", "Vendor", "Type", "Custom Product Type", "Product Category", "Standardized Product Type", "Tags",
              "Status", "Published", "Published on online store", "Body (HTML)", "Description", "SEO Title", "Image Src",
              "Product image URL"
            ]
          },
          "separators": {"tags": ","},
          "shelf_path": ">",
          "size_from_name": true
        }
        """

    /// Source: WooCommerce, “Product CSV Import Schema”, and its exporter.
    private static let wooCommerce = """
        {
          "title": "Product exports of WooCommerce (CSV, with English titles)",
          "format": "csv",
          "columns": {
            "sku": ["SKU", "ID"],
            "name": "Name",
            "brand": ["Brands", "Meta: _brand"],
            "price": "Regular price",
            "promo_price": "Sale price",
            "promo_from": "Date sale price starts",
            "promo_to": "Date sale price ends",
            "shelf": "Categories",
            "tags": "Tags",
            "in_stock": "In stock?",
            "barcode": "GTIN, UPC, EAN, or ISBN",
            "image_url": "Images",
            "group": "Parent",
            "position": null
          },
          "attributes": {
            "description": {"column": ["Short description", "Description"], "line_break": "\\\\n"},
            "link": "External URL", "woocommerce_id": "ID"
          },
          "rows": [
            {"column": "Type", "is": ["", "simple*", "variation*", "subscription*", "virtual"]},
            {"column": "Published", "is": ["1", "true", "yes", ""]},
            {"column": ["Visibility in catalog", "Visibility in catalogue"], "is": ["visible", "catalog", "search", ""]}
          ],
          "variants": {
            "column": "Parent",
            "keys": {"SKU": "", "ID": "id:"},
            "inherit": [
              "Categories", "Tags", "Brands", "Images", "Published", "Visibility in catalog", "Visibility in catalogue",
              "Short description", "Description"
            ]
          },
          "words": {"unavailable": ["backorder"]},
          "separators": {"shelf": ",", "tags": ",", "image_url": ","},
          "shelf_path": ">",
          "size_from_name": true
        }
        """

    /// Source: Open Food Facts, “Data fields” and the program that writes its exports. The CSV file has tabs, and no quotes
    /// around fields. Prices are missing.
    private static let openFoodFacts = """
        {
          "title": "Exports of Open Food Facts (CSV with tabs, JSON Lines)",
          "separator": "tab",
          "quotes": false,
          "columns": {
            "sku": ["code", "_id"],
            "name": [
              "product_name", "product_name_en", "product_name_de", "product_name_es", "product_name_fr",
              "product_name_hr", "product_name_it", "product_name_nl", "product_name_pl", "product_name_pt",
              "product_name_ru", "abbreviated_product_name", "generic_name"
            ],
            "brand": {"column": "brands", "first_of": ","},
            "shelf": {"column": ["main_category_en", "categories_en", "categories"], "last_of": ","},
            "size": "quantity",
            "tags": ["labels_en", "labels", "labels_tags"],
            "barcode": "code",
            "image_url": ["image_url", "image_front_url"]
          },
          "attributes": {
            "allergens": {"column": "allergens", "ignored": ["unknown"]},
            "environmental_score": {
              "column": ["environmental_score_grade", "ecoscore_grade"],
              "ignored": ["unknown", "not-applicable"]
            },
            "link": "url",
            "nova_group": {"column": "nova_group", "ignored": ["unknown", "not-applicable"]},
            "nutriscore": {"column": "nutriscore_grade", "ignored": ["unknown", "not-applicable"]}
          },
          "separators": {"tags": ","}
        }
        """

    /// Source: the lists that Croatian chains publish under Narodne novine 75/2025 and 101/2026. The lowest price of 30 days
    /// and the anchor price are data of the law, not prices that customers pay.
    private static let croatianPriceList = """
        {
          "title": "Statutory price lists of Croatian chains (CSV and XML)",
          "records": ["proizvod", "cjenik", "item"],
          "columns": {
            "sku": ["šifra proizvoda", "šifra", "šifra artikla", "SifraProizvoda", "sif_art", "artikl", "barkod"],
            "name": ["naziv proizvoda", "naziv", "naziv artikla", "naziv artikla / usluge", "NazivProizvoda", "naziv_art"],
            "brand": ["marka proizvoda", "marka", "brand", "MarkaProizvoda"],
            "price": [
              "maloprodajna cijena", "maloprodajna cijena (EUR)", "MPC (EUR)", "MPC", "MaloprodajnaCijena", "mpcijena",
              "maloprod.cijena(EUR)", "maloprodajna_cijena"
            ],
            "promo_price": [
              "MPC za vrijeme posebnog oblika prodaje*", "MPC poseb.oblik prod", "MPC_POSEBNA_PRODAJA", "POSEBNA_PRODAJA",
              "MaloprodajnaCijenaAkcija", "mpc_pop"
            ],
            "unit_price": [
              "cijena za jedinicu mjere*", "cijena po jm", "cijena jed.mj.(EUR)", "CIJENA_PO_MJERI",
              "CijenaZaJedinicuMjere", "c_jmj", "mpcijenamjera", "MpcJmj"
            ],
            "currency": {"constant": "EUR"},
            "shelf": [
              "kategorija proizvoda", "kategorija", "KategorijeProizvoda", "KategorijaProizvoda", "naz_kat",
              "ROBNA_STRUKTURA"
            ],
            "size": ["neto količina", "neto_kolicina", "NetoKolicina", "net_kol", "nettokolicina", "gramaža"],
            "unit": ["jedinica mjere", "jed_mjere", "JedinicaMjere", "jmj", "mjera", "JMjere"],
            "in_stock": ["dostupnost", "dostupno"],
            "barcode": ["barkod", "barkod_artikla", "barcode", "ean_kod"]
          },
          "attributes": {
            "anchor_price": ["sidrena cijena*", "SidrenaCijena", "MPC_020525", "SIDRENA_02_05", "c_020525", "CijenaSid"],
            "lowest_price_30_days": [
              "najniža cijena*", "najniža mpc*", "MPC_NAJNIZA_30", "NAJNIZA_30_DANA", "NajnizaCijena",
              "NajnizaCijena30Dana", "c_najniza_30"
            ],
            "sale": ["naziv posebnog oblika prodaje", "NazivPosebnogOblikaProdaje"]
          },
          "language": "hr",
          "time_zone": "Europe/Zagreb",
          "currency": "EUR",
          "size_from_name": true
        }
        """
}
