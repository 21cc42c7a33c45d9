-- Two searches that a shop can build with PostgreSQL alone: full text search and trigrams. judge.py compares Aisle with them.
--
-- judge.py runs this in a schema of its own, in a transaction that it rolls back. Needs PostgreSQL 13 with the extensions pg_trgm and
-- unaccent. Variable: language, a text search configuration; `simple` where PostgreSQL has no stemmer, as for Croatian.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS unaccent;

-- Lower case without accents; digits and letters apart; decimal points: `Käse 1,5L` becomes `kase 1.5 l`.
CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    regexp_replace(regexp_replace(regexp_replace(lower(unaccent($1)),
        '(\d),(\d)', '\1.\2', 'g'), '(\d)([[:alpha:]])', '\1 \2', 'g'), '([[:alpha:]])(\d)', '\1 \2', 'g');

-- A size as shoppers write it: 1.5 l for 1500 ml, 500 g for 500 g.
CREATE FUNCTION size_text(amount numeric, unit text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    CASE WHEN unit IN ('g', 'ml') THEN
        trim_scale(amount) || ' ' || unit || ' ' || trim_scale(amount / 1000) || CASE unit WHEN 'g' THEN ' kg' ELSE ' l' END
    ELSE '' END;

-- Lexemes of a text: its words, and their stems.
CREATE FUNCTION lexemes(text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    to_tsvector('pg_catalog.simple', folded($1)) || to_tsvector(:'language'::regconfig, folded($1));

CREATE TABLE product (
    sku text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    brand text NOT NULL,
    amount numeric,
    unit text NOT NULL,
    popularity numeric NOT NULL,
    lexemes tsvector GENERATED ALWAYS AS (
        setweight(lexemes(name), 'A') || setweight(lexemes(brand), 'B') || setweight(lexemes(coalesce(size_text(amount, unit), '')), 'C')
        || setweight(to_tsvector('pg_catalog.simple', sku), 'D')
    ) STORED,
    document text GENERATED ALWAYS AS (folded(name || ' ' || brand || ' ' || coalesce(size_text(amount, unit), '') || ' ' || sku)) STORED
);
CREATE INDEX product_lexemes ON product USING gin (lexemes);
CREATE INDEX product_document ON product USING gin (document gin_trgm_ops);

-- The words of a query.
CREATE FUNCTION words(query text) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
    SELECT match[1] FROM regexp_matches(folded(query), '(\d+\.\d+|[[:alnum:]]+)', 'g') AS match
$$;

-- A query of full text search: each word, or its stem, is a lexeme or, with the suffix `:*`, a prefix of one.
CREATE FUNCTION conditions(query text, suffix text) RETURNS tsquery LANGUAGE plpgsql STABLE AS $$
DECLARE
    word text;
    condition tsquery;
    result tsquery;
BEGIN
    FOR word IN SELECT words(query) LOOP
        condition := to_tsquery('pg_catalog.simple', quote_literal(word) || suffix)
            || to_tsquery(current_setting('judged.language')::regconfig, quote_literal(word) || suffix);
        result := CASE WHEN result IS NULL THEN condition ELSE result && condition END;
    END LOOP;
    RETURN result;
END $$;

-- The first ten products of full text search. All words must match, at least as prefixes; complete words count twice. Then by popularity.
CREATE FUNCTION full_text(query text) RETURNS TABLE (place bigint, sku text) LANGUAGE sql STABLE AS $$
    SELECT row_number() OVER (
            ORDER BY ts_rank(lexemes, prefixes, 1) + ts_rank(lexemes, complete, 1) DESC, popularity DESC, name, product.sku
        ), product.sku
    FROM product, conditions(query, ':*') AS prefixes, conditions(query, '') AS complete
    WHERE lexemes @@ prefixes ORDER BY 1 LIMIT 10
$$;

-- The first ten products of trigrams. The threshold applies to the query as a whole. Products are ranked by the mean similarity of its words;
-- a tenth of the similarity to the whole name prefers short names. Then by popularity.
CREATE FUNCTION trigrams(query text) RETURNS TABLE (place bigint, sku text) LANGUAGE sql STABLE AS $$
    SELECT row_number() OVER (
            ORDER BY (SELECT avg(word_similarity(word, document)) FROM words(query) AS word) + 0.1 * similarity(folded, folded(name)) DESC,
                popularity DESC, name, product.sku
        ), product.sku
    FROM product, folded(query) AS folded
    WHERE folded <% document ORDER BY 1 LIMIT 10
$$;
SET LOCAL pg_trgm.word_similarity_threshold = 0.4;
