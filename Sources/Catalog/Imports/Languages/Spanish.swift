extension ImportLanguage {
    static let spanish = ImportLanguage(
        code: "es",
        units: [
            .mg: "miligramos", .g: "gramo, gramos, grs", .kg: "kilo, kilos, kilogramo, kilogramos",
            .ml: "mililitros, mililitro", .cl: "centilitros", .l: "litro, litros, lts", .m: "metro, metros, mt",
            .piece:
                "ud, uds, unidad, unidades, u, und, unds, unid, unt, pza, pzas, pieza, piezas, comprimido, comprimidos, "
                + "cápsula, cápsulas, tableta, tabletas, toallitas, hojas",
            .pair: "par, pares", .dozen: "docena, docenas",
            .dose: "lavado, lavados, dosis, ración, raciones, porciones",
        ],
        connectors: "de, por",
        bundles: "pack, packs, paquete, paquetes, lote, lotes, caja, cajas, multipack, set",
        containers:
            "lata, latas, botella, botellas, bolsa, bolsas, brik, briks, bote, botes, tarro, tarros, tarrina, tarrinas, "
            + "garrafa, garrafas, bandeja, bandejas, sobre, sobres, bolsita, bolsitas, tubo, estuche, frasco, botellín, "
            + "botellines, envase, envases",
        items: "rollo, rollos, huevo, huevos, loncha, lonchas, rebanadas, pañales, compresas, pastillas, servilletas",
        net: "peso neto, neto, contenido neto, contenido, peso",
        drained: "peso escurrido, escurrido, p. escurrido, peso neto escurrido",
        approximate: "aprox, aproximadamente, aproximado, alrededor de, unos, peso aprox",
        per: "por, el, la, precio por, precio, al, cada",
        ranges: "o, entre, hasta, desde, mínimo, máximo, a",
        labels: "talla, n, número, nº, tipo, clase, tamaño",
        halves: "medio, media",
        traits: "capas, meses, años, grados, personas",
        available:
            "sí, si, disponible, disponibles, en stock, en existencia, en existencias, hay existencias, con stock",
        unavailable:
            "no, agotado, agotada, agotados, no disponible, no disponibles, sin stock, sin existencias, fuera de stock, "
            + "temporalmente agotado, descatalogado, agotado temporalmente"
    )
}
