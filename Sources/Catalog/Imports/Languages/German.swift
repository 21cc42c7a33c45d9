extension ImportLanguage {
    static let german = ImportLanguage(
        code: "de",
        units: [
            .mg: "Milligramm", .g: "Gramm", .dag: "Deka, Dekagramm", .kg: "Kilogramm, Kilos",
            .ml: "Milliliter", .cl: "Zentiliter", .dl: "Deziliter", .l: "Liter", .m: "Meter, lfm",
            .m2: "Quadratmeter",
            .piece:
                "Stück, Stk, St, Stücke, Tablette, Tabletten, Kapsel, Kapseln, Dragees, Tuch, Tücher, Blatt, Einheiten",
            .pair: "Paar", .dozen: "Dutzend",
            .dose:
                "WG, WL, Waschgang, Waschgänge, Waschladung, Waschladungen, Wäschen, Portion, Portionen, Anwendungen",
        ],
        connectors: "à, je, zu, zu je, mal, mit",
        bundles:
            "er, er-Pack, erpack, Pack, Pkg, Packung, Packungen, Multipack, Kasten, Kiste, Tray, Set, er-Set, er Set, "
            + "er-Kasten, er-Tray, er-Kiste, er-Packung, Gebinde, Karton, Sixpack",
        containers:
            "Dose, Dosen, Flasche, Flaschen, Fl, Glas, Gläser, Becher, Beutel, Tüte, Tüten, Tube, Tuben, Tetra, Tafel, "
            + "Tafeln, Riegel, Schale, Schalen, Netz, Eimer, Kanister, Pck, Päckchen, Kopf, Bund",
        items:
            "Rolle, Rollen, Ei, Eier, Scheibe, Scheiben, Teebeutel, Filterbeutel, Filter, Windeln, Pads, Stäbchen",
        net: "netto, Füllmenge, Nettofüllmenge, Nettogewicht, Inhalt, Gewicht, Einwaage",
        drained: "Abtropfgewicht, abgetropft, ATG, Abtr.gew, Abtropfgew",
        approximate: "circa, zirka, etwa, ungefähr, rund",
        per: "je, pro, per, der, Preis, Preis pro, Preis je, Grundpreis",
        ranges: "bis, oder, von, zwischen, mindestens, höchstens, mind, max, ab, je nach Sorte",
        labels: "Größe, Gr, Nr, Nummer, Type, Typ, Stufe, LSF, Klasse",
        halves: "halbe, halber, halbes",
        traits: "lagig, Lagen, Monate, Monaten, Jahre, Jahren, Prozent, Volt, Watt, Personen, in eins, Lagenstärke",
        available:
            "ja, j, verfügbar, verfuegbar, lieferbar, sofort lieferbar, sofort verfügbar, auf Lager, lagernd, an Lager, "
            + "vorrätig, vorhanden, erhältlich, wenige verfügbar, nur noch wenige verfügbar, im Sortiment",
        unavailable:
            "nein, nicht verfügbar, nicht verfuegbar, nicht lieferbar, derzeit nicht verfügbar, derzeit nicht lieferbar, "
            + "momentan nicht verfügbar, zurzeit nicht verfügbar, nicht auf Lager, nicht vorrätig, nicht vorhanden, "
            + "nicht erhältlich, ausverkauft, vergriffen, nicht mehr verfügbar, nicht mehr lieferbar, ausgelistet, "
            + "vorbestellbar"
    )
}
