extension ImportLanguage {
    static let polish = ImportLanguage(
        code: "pl",
        units: [
            .mg: "miligramów", .g: "gram, gramów, gramy", .dag: "deka, dekagramów",
            .kg: "kilogram, kilogramy, kilogramów",
            .ml: "mililitrów, mililitr", .cl: "centylitrów", .l: "litr, litry, litrów", .m: "metr, metry, metrów, mb",
            .piece:
                "szt, sztuka, sztuki, sztuk, tabletka, tabletki, tabletek, tabl, kapsułka, kapsułki, kapsułek, kaps, "
                + "chusteczek, chusteczki, listków, arkuszy",
            .pair: "para, pary, par", .dozen: "tuzin",
            .dose: "pranie, prania, prań, dawka, dawki, dawek, porcja, porcje, porcji",
        ],
        connectors: "po, razy, à",
        bundles:
            "pak, opak, op, opakowanie, opakowania, opakowań, zgrzewka, zgrzewki, zgrzewek, zestaw, karton, czteropak, "
            + "wielopak",
        containers:
            "puszka, puszki, puszek, butelka, butelki, butelek, but, słoik, słoiki, słoików, torebka, torebki, torebek, "
            + "kubek, kubki, kubków, saszetka, saszetki, saszetek, kartonik, tubka, tabliczka, worek, puszk",
        items:
            "rolka, rolki, rolek, jajko, jajka, jaj, plaster, plastry, plastrów, pieluchy, pieluszek, podpasek, wkładek, "
            + "torebek herbaty",
        net: "masa netto, netto, zawartość netto, zawartość, waga, waga netto, masa",
        drained:
            "masa po odsączeniu, po odsączeniu, masa netto po odsączeniu, po odcieku, masa po odcieku, odsączone",
        approximate: "ok, około, w przybliżeniu",
        per: "za, cena za, cena, na",
        ranges: "do, lub, od, albo, pomiędzy, minimum, maks",
        labels: "rozmiar, nr, numer, typ, klasa",
        halves: "pół",
        traits: "warstwy, warstw, warstwowy, miesięcy, mies, lat, miesiąca",
        available:
            "tak, dostępny, dostępna, dostępne, dostępność natychmiast, na stanie, w magazynie, jest, na magazynie",
        unavailable:
            "nie, niedostępny, niedostępna, niedostępne, brak, wyprzedany, wyprzedana, wyprzedane, brak w magazynie, "
            + "brak na stanie, nie ma, nie dostępny, chwilowo niedostępny, tymczasowo niedostępny, wycofany"
    )
}
