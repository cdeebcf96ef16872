#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of keys in a database: against plain tables through random transactions of two connections, killed processes, damaged
rows; and what they refuse.

    tests/sqlite/tables.py [TRANSACTIONS]      of the random ones (default: 600)
"""
import os
import random
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sq

tap = sq.Tap()
refuses = sq.refuser(tap)


MISSING = "SELECT count(*) FROM plain WHERE NOT EXISTS (SELECT 1 FROM seen WHERE seen.key = plain.key)"


def agree(db):
    """No key is missing, none is too many, and what is stored says the same."""
    db.rows("INSERT INTO seen(command) VALUES ('check')")
    return db.one(MISSING) == 0 and db.one("SELECT tamis_items(image) FROM seen") == db.one("SELECT count(*) FROM plain")


# ---- One connection ---------------------------------------------------------------------------

def use(folder):
    db = sq.Database(folder.file("use.db"))
    db.rows("CREATE VIRTUAL TABLE seen USING tamis('scalable:capacity=100,fpr=1e-6')")
    db.rows("INSERT INTO seen VALUES ('a'), (NULL), ('b')")
    tap.equal(db.rows("SELECT key FROM seen WHERE key = 'a'"), [("a",)], "a key is there")
    tap.equal(db.rows("SELECT key FROM seen WHERE key IN ('a', 'b', 'c') ORDER BY 1"), [("a",), ("b",)], "some of a list")
    tap.equal(db.rows("SELECT 1 FROM seen WHERE key = NULL"), [], "NULL is none")
    tap.equal(db.one("SELECT count(*) FROM seen WHERE key = 'a' OR key = 'c'"), 1, "one or the other")
    tap.equal(db.one("SELECT tamis_has(image, 'b') FROM seen"), 1, "the filter as a value")
    tap.equal(db.one("SELECT tamis_items(image) FROM seen"), 2, "NULL was left out")
    db.rows("CREATE TABLE t(k)")
    db.rows("INSERT INTO t VALUES ('a'), ('x'), ('b')")
    tap.equal(db.rows("SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM seen WHERE key = t.k)"), [("x",)], "an anti-join")
    tap.equal(db.rows("SELECT k FROM t JOIN seen ON seen.key = t.k ORDER BY k"), [("a",), ("b",)], "a join")
    tap.equal(db.rows("SELECT k FROM seen JOIN t ON seen.key = t.k ORDER BY k"), [("a",), ("b",)], "the other way round")
    many = "WITH RECURSIVE s(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM s WHERE v < 20000) INSERT INTO seen SELECT 'key-' || v FROM s"
    db.rows(many)
    tap.equal(db.one("SELECT count(*) FROM seen WHERE key = 'key-20000'"), 1, "many keys at once")
    rows_before = db.one("SELECT count(*) FROM seen_data")
    db.rows("INSERT INTO seen VALUES ('one more')")
    tap.equal(db.one("SELECT count(*) FROM seen_data") - rows_before, 1, "one key more is one row more")
    written = db.one("SELECT length(bytes) FROM seen_data ORDER BY id DESC LIMIT 1")
    tap.check(written < 100, f"of {written} bytes")
    db.close()
    db = sq.Database(folder.file("use.db"))
    tap.equal(db.one("SELECT count(*) FROM seen WHERE key IN ('one more', 'key-1', 'a')"), 3, "after opening again")
    db.rows("VACUUM")
    tap.equal(db.one("SELECT count(*) FROM seen WHERE key = 'key-777'"), 1, "after VACUUM")
    rename_and_drop(db)
    db.close()


def rename_and_drop(db):
    db.rows("ALTER TABLE seen RENAME TO \"o'l\"\"d\"")
    tap.equal(db.one("SELECT count(*) FROM \"o'l\"\"d\" WHERE key = 'a'"), 1, "after renaming, to a name in need of quotes")
    db.rows("BEGIN")
    db.rows("INSERT INTO \"o'l\"\"d\" VALUES ('late')")
    db.rows("ALTER TABLE \"o'l\"\"d\" RENAME TO again")
    db.rows("COMMIT")
    tap.equal(db.one("SELECT count(*) FROM again WHERE key = 'late'"), 1, "renamed with a change that waits")
    db.rows("BEGIN")
    db.rows("INSERT INTO again VALUES ('gone')")
    db.rows("ALTER TABLE again RENAME TO other")
    db.rows("ROLLBACK")
    tap.equal(db.rows("SELECT key FROM again WHERE key IN ('late', 'gone')"), [("late",)], "a renaming that is rolled back")
    db.rows("BEGIN")
    db.rows("DROP TABLE again")
    db.rows("ROLLBACK")
    tap.equal(db.one("SELECT count(*) FROM again WHERE key = 'late'"), 1, "a DROP that is rolled back")
    db.rows("DROP TABLE again")
    tap.equal(db.rows("SELECT name FROM sqlite_master WHERE name LIKE '%data%'"), [], "DROP leaves nothing")


def refusals(db):
    db.rows("CREATE TABLE t(k TEXT COLLATE NOCASE)")
    db.rows("CREATE VIRTUAL TABLE seen USING tamis('scalable:capacity=100')")
    db.rows("CREATE VIRTUAL TABLE removed USING tamis(\"cuckoo:capacity=100\")")
    db.rows("CREATE VIRTUAL TABLE full USING tamis('quotient:capacity=10')")
    db.rows("INSERT INTO seen VALUES (1)")
    cannot = "a filter cannot list its keys"
    for sql in ("SELECT * FROM seen", "SELECT count(*) FROM seen", "SELECT key FROM seen WHERE key > 1", "DELETE FROM seen",
                "SELECT key, image FROM seen", "SELECT 1 IN (SELECT key FROM seen)", "SELECT 1 FROM seen WHERE key = 1 COLLATE NOCASE",
                "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM seen WHERE t.k = key)"):
        if "t.k" in sql:
            db.rows("INSERT INTO t VALUES ('a')")
        refuses(db, sql, says=cannot)
    refuses(db, "INSERT INTO seen VALUES (x'01')", says="keys of this filter are int64, and a BLOB is never one of them")
    refuses(db, "SELECT 1 FROM seen WHERE key = x'01'", says="a BLOB is never one of them")
    refuses(db, "INSERT INTO seen VALUES (2.5)", says="which has no such number")
    refuses(db, "DELETE FROM seen WHERE key = 1", says="scalable cannot remove")
    refuses(db, "UPDATE seen SET key = 2 WHERE key = 1", says="a key is not updated")
    refuses(db, "INSERT INTO seen(image) VALUES (x'00')", says="keys are inserted, not an image")
    refuses(db, "INSERT INTO seen(command) VALUES ('help')", says="a command is 'check', 'tick' or 'clear'")
    refuses(db, "INSERT INTO seen(command) VALUES ('tick')", says="tamis: ")
    refuses(db, "CREATE VIRTUAL TABLE x USING tamis", says="a table has one argument, a spec")
    refuses(db, "CREATE VIRTUAL TABLE x USING tamis(a, b)", says="a table has one argument, a spec")
    refuses(db, "CREATE VIRTUAL TABLE x USING tamis('fuse:capacity=10')", says="tamis: ")
    refuses(db, "CREATE VIRTUAL TABLE x USING tamis('blocked:capacity=1e12')", says="tamis: ")
    refuses(db, "CREATE VIRTUAL TABLE x USING tamis('nosuch:capacity=1')", says="tamis: ")
    tap.equal(db.rows("SELECT name FROM sqlite_master WHERE name LIKE 'x%'"), [], "what was refused leaves nothing")
    db.rows("INSERT INTO removed VALUES ('a'), ('b')")
    db.rows("DELETE FROM removed WHERE key = 'a'")
    tap.equal(db.rows("SELECT key FROM removed WHERE key IN ('a', 'b')"), [("b",)], "a key is removed")
    sentence = db.error("WITH RECURSIVE s(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM s WHERE v < 5000) INSERT INTO full SELECT v FROM s")
    tap.check("full" in sentence, "a filter of fixed size that is full")
    tap.equal(db.one("SELECT tamis_items(image) FROM full"), 0, "and the statement has done nothing")
    db.rows("CREATE VIRTUAL TABLE aged USING tamis('window:capacity=100,generations=2')")
    db.rows("INSERT INTO aged VALUES ('old')")
    for _ in range(4):
        db.rows("INSERT INTO aged(command) VALUES ('tick')")
    tap.equal(db.rows("SELECT 1 FROM aged WHERE key = 'old'"), [], "time passes")
    db.rows("INSERT INTO removed(command) VALUES ('clear')")
    tap.equal(db.rows("SELECT 1 FROM removed WHERE key = 'b'"), [], "a filter is emptied")


def triggers(db):
    db.rows("PRAGMA trusted_schema = OFF")
    db.rows("CREATE VIRTUAL TABLE seen USING tamis('multiset:capacity=1000,fpr=1e-6')")
    db.rows("CREATE TABLE users(email TEXT UNIQUE)")
    db.rows("CREATE TRIGGER added AFTER INSERT ON users BEGIN INSERT INTO seen VALUES (new.email); END")
    db.rows("CREATE TRIGGER gone AFTER DELETE ON users BEGIN DELETE FROM seen WHERE key = old.email; END")
    db.rows("INSERT INTO users VALUES ('a'), ('b'), ('c')")
    db.rows("DELETE FROM users WHERE email = 'b'")
    tap.equal(db.rows("SELECT key FROM seen WHERE key IN ('a', 'b', 'c') ORDER BY 1"), [("a",), ("c",)], "kept up by triggers")
    tap.check("UNIQUE" in db.error("INSERT INTO users VALUES ('d'), ('a')"), "a statement that fails in its second row")
    tap.equal(db.rows("SELECT key FROM seen WHERE key = 'd'"), [], "has added nothing")
    db.rows("INSERT OR IGNORE INTO users VALUES ('e'), ('a')")
    tap.equal(db.rows("SELECT key FROM seen WHERE key = 'e'"), [("e",)], "one that goes on has")
    tap.equal(db.one("SELECT tamis_items(image) FROM seen"), 3, "exactly")


def elsewhere(folder):
    """Attached, temporary and copied databases; more than one table."""
    db = sq.Database()
    db.rows("ATTACH ? AS side", folder.file("side.db"))
    db.rows("CREATE VIRTUAL TABLE side.seen USING tamis('scalable:capacity=100,fpr=1e-6')")
    db.rows("CREATE VIRTUAL TABLE temp.mine USING tamis('scalable:capacity=100,fpr=1e-6')")
    db.rows("INSERT INTO side.seen VALUES (1)")
    db.rows("INSERT INTO mine VALUES (2)")
    found = db.rows("SELECT (SELECT count(*) FROM side.seen WHERE key = 1), (SELECT count(*) FROM mine WHERE key = 2)")
    tap.equal(found, [(1, 1)], "in an attached and in a temporary database")
    copy = sq.Database(folder.file("copy.db"))
    copy.rows("CREATE VIRTUAL TABLE other USING tamis('capacity=10')")
    copy.rows("SELECT 1 FROM other WHERE key = 1")
    source = sq.Database(folder.file("side.db"))
    source.connection.backup(copy.connection)
    tap.equal(copy.one("SELECT count(*) FROM seen WHERE key = 1"), 1, "in a copy by backup")
    for each in (db, copy, source):
        each.close()


# ---- Checkpoints ------------------------------------------------------------------------------

def checkpoints(folder):
    """Batches that fill the journal again and again, added and removed: pages follow, and another connection finds every key."""
    path = folder.file("pages.db")
    db, other = sq.Database(path), sq.Database(path)
    db.rows("PRAGMA synchronous = OFF")
    db.rows("CREATE VIRTUAL TABLE seen USING tamis('multiset:capacity=60000,fpr=1e-6')")
    db.rows("CREATE TABLE plain(key PRIMARY KEY) WITHOUT ROWID")
    batch = "WITH RECURSIVE s(v) AS (SELECT ?1 UNION ALL SELECT v + 1 FROM s WHERE v < ?1 + 1999) "
    pages = journals = 0
    good = True
    for turn in range(16):
        db.rows("BEGIN")
        if turn % 4 == 3:  # removes the batch of before
            for table in ("seen", "plain"):
                db.many(f"DELETE FROM {table} WHERE key = ?", [(key,) for key in range((turn - 1) * 2000, turn * 2000)])
        else:
            for table in ("seen", "plain"):
                db.rows(batch + f"INSERT INTO {table} SELECT v FROM s", turn * 2000)
        db.rows("COMMIT")
        rows = db.one("SELECT count(*) FROM seen_data WHERE id > 1000000")
        pages, journals = pages + (rows == 0), journals + (rows > 0)
        fresh = sq.Database(path)
        good = good and agree(other) and agree(fresh)
        fresh.close()
    tap.check(good, "16 batches, each found by a connection that is open and by a new one")
    tap.check(pages > 2 and journals > 2, f"pages were written {pages} times, and the journal alone {journals} times")
    db.close()
    other.close()


# ---- Damaged rows -----------------------------------------------------------------------------

def damage(folder):
    """Bytes of a row that are changed, rows that are missing or of another sort: an error, and no crash."""
    rng = random.Random(24)
    path = folder.file("damage.db")
    db = sq.Database(path)
    db.rows("CREATE VIRTUAL TABLE seen USING tamis('multiset:capacity=20000,fpr=1e-6')")
    db.rows("WITH RECURSIVE s(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM s WHERE v < 20000) INSERT INTO seen SELECT v FROM s")
    for key in (-1, -2, -3):
        db.rows("INSERT INTO seen VALUES (?)", key)
    ids = [row[0] for row in db.rows("SELECT id FROM seen_data")]
    tap.check(len(ids) >= 5, f"{len(ids)} rows: a state, pages, a journal")
    good = 0
    for turn in range(120):
        other = sq.Database(path)
        other.rows("BEGIN")
        row = rng.choice(ids)
        bytes_of = bytearray(other.one("SELECT bytes FROM seen_data WHERE id = ?", row))
        how = rng.randrange(6)
        if how < 3:
            at = rng.randrange(len(bytes_of))
            bytes_of[at] ^= 1 << rng.randrange(8)
            value = bytes(bytes_of)
        else:
            value = [bytes(bytes_of[:rng.randrange(len(bytes_of))]), bytes(bytes_of) + b"\0", rng.choice([None, 1, "text", b""])][how - 3]
        other.rows("UPDATE seen_data SET bytes = ? WHERE id = ?", value, row)
        sentence = other.error("SELECT 1 FROM seen WHERE key = 5")
        good += 'tamis: the table "seen" is damaged: ' in sentence
        if 'tamis: the table "seen" is damaged: ' not in sentence:
            print(f"# turn {turn}, row {row}, {how}: {sentence}")
        other.rows("ROLLBACK")
        other.close()
    tap.equal(good, 120, "each damaged row is refused")
    for row in ids:
        other = sq.Database(path)
        other.rows("BEGIN")
        other.rows("DELETE FROM seen_data WHERE id = ?", row)
        refuses(other, "SELECT 1 FROM seen WHERE key = 5", says="is damaged")
        refuses(other, "INSERT INTO seen VALUES (99999)", says="is damaged")
        other.rows("ROLLBACK")
        tap.equal(other.one("SELECT count(*) FROM seen WHERE key = -3"), 1, f"and well again, row {row}")
        other.close()
    db.rows("DROP TABLE seen_data")
    db.close()
    db = sq.Database(path)
    refuses(db, "SELECT 1 FROM seen WHERE key = 5", says="no such table: main.seen_data")
    db.rows("DROP TABLE seen")
    db.close()


# ---- Random transactions of two connections ---------------------------------------------------

class Writer:
    """One of the connections, which does what chance says."""

    def __init__(self, path, rng):
        self.db = sq.Database(path, timeout=0)
        self.rng = rng

    def change(self):
        key = self.rng.randrange(400)
        if self.db.one("SELECT count(*) FROM plain WHERE key = ?", key):
            self.db.rows("DELETE FROM seen WHERE key = ?", key)
            self.db.rows("DELETE FROM plain WHERE key = ?", key)
        else:
            self.db.rows("INSERT INTO plain VALUES (?)", key)
            self.db.rows("INSERT INTO seen VALUES (?)", key)

    def change_some(self):
        start = self.rng.randrange(400)
        self.db.rows("INSERT INTO both SELECT value FROM numbers WHERE value BETWEEN ? AND ? AND value NOT IN (SELECT key FROM plain)",
                     start, start + self.rng.randrange(60))

    def fail(self):
        """A statement that adds many, and fails at the last."""
        sentence = self.db.error("INSERT INTO both SELECT value + 1000 FROM numbers UNION ALL SELECT 1000")
        assert "UNIQUE" in sentence or "locked" in sentence, sentence

    def transaction(self):
        depth, end = 0, self.rng.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"])
        self.db.rows(self.rng.choice(["BEGIN IMMEDIATE", "BEGIN"]))
        for _ in range(self.rng.randrange(1, 7)):
            what = self.rng.random()
            if what < 0.2:
                depth += 1
                self.db.rows(f"SAVEPOINT s{depth}")
            elif what < 0.35 and depth:
                to = self.rng.randrange(1, depth + 1)
                self.db.rows(f"ROLLBACK TO s{to}")
                depth = to
            elif what < 0.45 and depth:
                self.db.rows(f"RELEASE s{depth}")
                depth -= 1
            else:
                self.rng.choice([self.change, self.change, self.change, self.change_some, self.fail])()
        self.db.rows(end)

    def turn(self):
        try:
            self.transaction()
        except sq.sqlite3.OperationalError as e:
            assert "locked" in str(e) or "busy" in str(e), e
            if self.db.connection.in_transaction:
                self.db.rows("ROLLBACK")


def two_connections(folder, mode, transactions):
    rng = random.Random(f"{mode} 24")
    path = folder.file(f"two-{mode}.db")
    first = sq.Database(path)
    first.rows(f"PRAGMA journal_mode = {mode}")
    first.rows("PRAGMA synchronous = OFF")
    make_pair(first)
    writers = [Writer(path, rng), Writer(path, rng)]
    good = True
    for turn in range(transactions):
        rng.choice(writers).turn()
        if turn % 5 == 0:
            good = good and all(agree(writer.db) for writer in writers)
    tap.check(good, f"{mode}: {transactions} transactions of two connections, and the tables agree")
    tap.check(agree(first), f"{mode}: a third that only looked at the start")
    for each in (*writers, first):
        getattr(each, "db", each).close()


def make_pair(db):
    db.rows("CREATE VIRTUAL TABLE seen USING tamis('multiset:capacity=3000,fpr=1e-9')")
    db.rows("CREATE TABLE plain(key PRIMARY KEY) WITHOUT ROWID")
    db.rows("CREATE TABLE numbers AS WITH RECURSIVE s(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM s WHERE value < 399) SELECT value FROM s")
    db.rows("CREATE VIEW both AS SELECT key FROM plain")
    db.rows("CREATE TRIGGER both_in INSTEAD OF INSERT ON both BEGIN INSERT INTO plain VALUES (new.key); INSERT INTO seen VALUES (new.key); END")


# ---- Killed processes -------------------------------------------------------------------------

def victim(path, seed):
    """Runs until it is killed; says what it has committed."""
    writer = Writer(path, random.Random(seed))
    writer.db.rows("PRAGMA busy_timeout = 60000")
    while True:
        writer.turn()
        sys.stdout.write(".")
        sys.stdout.flush()


def killed(folder, times):
    path = folder.file("killed.db")
    db = sq.Database(path)
    make_pair(db)
    rng, good = random.Random(24), True
    for turn in range(times):
        command = [sys.executable, os.path.abspath(__file__), "--victim", path, str(turn)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.read(rng.randrange(1, 12))  # as many transactions
            process.send_signal(signal.SIGKILL)
        other = sq.Database(path)
        good = good and agree(other) and agree(db) and other.one("PRAGMA integrity_check") == "ok"
        other.close()
    tap.check(good, f"{times} processes killed in a transaction, and the tables agree")
    db.close()


def main():
    sq.skip_unless_possible()
    if sys.argv[1:2] == ["--victim"]:
        victim(sys.argv[2], int(sys.argv[3]))
    transactions = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    with sq.Folder() as folder:
        use(folder)
        refusals(sq.Database())
        triggers(sq.Database())
        elsewhere(folder)
        checkpoints(folder)
        damage(folder)
        for mode in ("DELETE", "WAL"):
            two_connections(folder, mode, transactions // 2)
        killed(folder, max(8, transactions // 75))
    sys.exit(tap.end())


main()
