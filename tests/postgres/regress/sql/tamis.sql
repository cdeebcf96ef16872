-- What a packager wants to know: the extension loads, its functions are there, and they answer.
-- The tests of the sources, beside this directory, are the thorough ones.
SELECT count(*) > 60 AS functions FROM pg_proc JOIN pg_depend d ON d.objid = pg_proc.oid
JOIN pg_extension e ON e.oid = d.refobjid WHERE e.extname = 'tamis' AND d.deptype = 'e';
SELECT extversion FROM pg_extension WHERE extname = 'tamis';

-- Every kind of key.
CREATE TABLE keys (i int, t text, u uuid, b bytea, d date, r float8, a inet);
INSERT INTO keys SELECT i, 'key ' || i, md5(i::text)::uuid, decode(md5(i::text), 'hex'), date '2026-01-01' + i, i / 8.0,
    inet '10.0.0.0' + i FROM generate_series(1, 1000) i;
CREATE TABLE filters AS SELECT tamis_build(i) AS i, tamis_build(t) AS t, tamis_build(u) AS u, tamis_build(b) AS b,
    tamis_build(d) AS d, tamis_build(r) AS r, tamis_build(a) AS a FROM keys;
SELECT count(*) FROM keys k, filters f WHERE f.i @> k.i AND k.t <@ f.t AND f.u @> k.u AND f.b @> k.b AND f.d @> k.d AND f.r @> k.r
    AND f.a @> k.a;
SELECT count(*) < 50 AS few FROM generate_series(1001, 2000) k, filters f WHERE f.i @> k;
SELECT i @> 'twelve' FROM filters;
SELECT t @> 12 FROM filters;
SELECT i @> NULL::int AS "null", tamis_has_any(i, ARRAY[5000000, 7]) AS "any", tamis_has_all(i, ARRAY[NULL, 7]) AS "all" FROM filters;

-- Every way to make one.
SELECT kind, tamis_build(t, kind) @> 'key 77' AS has FROM keys, unnest(ARRAY['blocked', 'fuse', 'ribbon', 'cuckoo', 'scalable']) kind
GROUP BY kind ORDER BY kind;
SELECT tamis_items(tamis_add(tamis_new('blocked:capacity=100'), ARRAY[1, 2, NULL, 3]));
SELECT tamis_count(tamis_remove(tamis_add(tamis_new('multiset:capacity=100'), ARRAY['a', 'a']), 'a'), 'a');
SELECT tamis_union(f) @> 1 AS one, tamis_union(f) @> 900 AS other FROM (SELECT tamis_build(i) AS f FROM keys GROUP BY i % 2) x;
SELECT tamis_get(tamis_build_map(t, i), 'key 77') FROM keys;
SELECT tamis_which(tamis_build_labels(t, CASE WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END), 'key 77') FROM keys;
SELECT tamis_build(i) = tamis_build(i) AS same, tamis_build(i) = tamis_build(i + 1) AS other FROM keys;

-- In and out; damage is refused at the door.
SELECT i::text::tamis = i AND i::bytea::tamis = i AS same FROM filters;
SELECT '\x00'::tamis;
SELECT set_byte(i::bytea, 300, get_byte(i::bytea, 300) # 1)::tamis FROM filters;
SELECT tamis_new('blocked:capacity=1T');
SELECT tamis_file('nothing') @> 1;

-- A column of many, of which slices are read.
CREATE TABLE days AS SELECT d AS day, tamis_build(d * 1000 + i, 'blocked:size=200000') AS f
FROM generate_series(1, 9) d, generate_series(0, 99) i GROUP BY d;
SELECT day FROM days WHERE f @> 7042;
SELECT f.kind, f.items, f.encoding FROM days, tamis_info(days.f) f WHERE day = 3;
\set VERBOSITY terse
DROP EXTENSION tamis;
DROP EXTENSION tamis CASCADE;
