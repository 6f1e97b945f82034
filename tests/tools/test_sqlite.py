"""The built-in `sqlite`: one statement, and only what the author allowed."""

import contextlib
import sqlite3
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loopworth.tools.builtin import builtin_tool
from loopworth.tools.fault import ToolFault
from loopworth.tools.sqlite import Database
from tests.tools.kit import invoke


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sh?p #1.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            create table orders (id integer primary key, customer text not null, total real);
            insert into orders values (1, 'Ann', 12.5), (2, 'Bo', null), (3, 'Ann', 30);
            create virtual table notes using fts5 (body);
            insert into notes values ('the parcel was late'), ('paid twice');
            create table log (id integer);
            create trigger logged after delete on orders begin insert into log values (old.id); end;
            """
        )
    return path


def tool(file, write=False, timeout=5.0, **bound):
    effect = "write" if write else "read"
    return builtin_tool("shop", "sqlite", effect=effect, bound={"file": file, "write": write, **bound}, timeout=timeout)


def ask(file, sql, params=None, **how):
    return invoke(tool(file, **how), {"sql": sql, "params": params})


def count(file, table):
    with contextlib.closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"select count(*) from {table}").fetchone()[0]


@pytest.mark.parametrize(
    ("sql", "params", "rows"),
    [
        (
            "select id, total from orders where customer = ?",
            ["Ann"],
            [{"id": 1, "total": 12.5}, {"id": 3, "total": 30.0}],
        ),
        ("SELECT total FROM orders WHERE id = :id", {"id": 2}, [{"total": None}]),
        ("-- why\n/* two */ with a as (select 1 as x) select x from a;", None, [{"x": 1}]),
        ("values (1), (2)", None, [{"column1": 1}, {"column1": 2}]),
        ("select body from notes where notes match ?", ["late"], [{"body": "the parcel was late"}]),
        ("select ? as value", ["'; drop table orders; --"], [{"value": "'; drop table orders; --"}]),
        ("select name from sqlite_master where name = 'orders'", None, [{"name": "orders"}]),
        ("select x'ff' as raw", None, [{"raw": {"base64": "/w=="}}]),
    ],
)
def test_a_query_gives_rows_by_column(file, sql, params, rows):
    """Values go in by `params`, never by text; full-text tables can be read."""
    assert ask(file, sql, params).full == {"rows": rows, "more": False}


WRITES = [
    "insert into orders values (9, 'x', 1)",
    "update orders set total = 0",
    "delete from orders",
    "replace into orders values (1, 'x', 1)",
    "with a as (select 1) delete from orders",
    "with a as (select 1) insert into orders select 7, 'x', 1",
]
NEVER = [
    "drop table orders",
    "create table z (a)",
    "create temp table z (a)",
    "alter table orders add column z",
    "create trigger t after insert on orders begin delete from orders; end",
    "pragma query_only = off",
    "pragma writable_schema = on",
    "attach database ':memory:' as other",
    "detach main",
    "vacuum",
    "vacuum into 'copy.db'",
    "reindex",
    "analyze",
    "begin",
    "commit",
    "savepoint a",
    "explain select 1",
    "select load_extension('x')",
    "select * from pragma_database_list",
    "update sqlite_master set sql = ''",
    "with a as (select 1) update sqlite_master set sql = ''",
]


@pytest.mark.parametrize("sql", [*WRITES, *NEVER])
def test_a_database_that_is_only_read_is_only_read(file, sql):
    """Refused, and not a byte of the file is another."""
    before = file.read_bytes()
    seen = ask(file, sql)
    assert seen.status in ("not_allowed", "invalid_arguments")
    assert file.read_bytes() == before


@pytest.mark.parametrize("sql", NEVER)
def test_a_database_that_is_written_keeps_its_schema(file, sql):
    """Rows are changed, nothing else: no schema, no other file, no setting, no transaction that outlives the call."""
    seen = ask(file, sql, write=True)
    assert seen.status in ("not_allowed", "invalid_arguments")
    assert count(file, "orders") == 3


@pytest.mark.parametrize("wall", ["mode", "query_only", "authorizer"])
def test_each_of_the_three_walls_holds_alone(file, wall):
    """A writing connection that has only one of them cannot write."""
    reader = Database(file)
    before = file.read_bytes()
    made = reader if wall == "mode" else Database(file, writes=True)
    with contextlib.closing(made.connection()) as connection:
        if wall == "query_only":
            reader.guard(connection)
            connection.set_authorizer(None)
        if wall == "authorizer":
            connection.set_authorizer(reader.judge)
        with pytest.raises(sqlite3.DatabaseError, match=r"readonly|not authorized"):
            connection.execute("delete from orders")
    assert file.read_bytes() == before


VERBS = [
    "select",
    "insert into",
    "delete from",
    "update",
    "pragma",
    "attach",
    "create table",
    "drop table",
    "with a as (",
    "vacuum",
]
WORDS = [
    *VERBS,
    "orders",
    "notes",
    "*",
    "from",
    "values (1, 'x', 2)",
    "set total = 0",
    ")",
    ";",
    "returning *",
    "where 1",
    "a",
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sql=st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join) | st.text(max_size=30))
def test_no_statement_changes_a_database_that_is_only_read(file, sql):
    """Whatever is written: the same bytes, and no other file beside it."""
    before, beside = file.read_bytes(), sorted(file.parent.iterdir())
    seen = ask(file, sql)
    assert seen.status in ("ok", "not_allowed", "invalid_arguments"), seen.content
    assert (file.read_bytes(), sorted(file.parent.iterdir())) == (before, beside)


def test_a_change_says_how_many_rows_it_changed(file):
    """Triggers run; what they change is not counted; `returning` gives rows."""
    assert ask(file, "delete from orders where customer = ?", ["Ann"], write=True).full["changed"] == 2
    assert count(file, "log") == 2
    told = ask(file, "insert into orders values (7, 'Cy', 1) returning id", write=True).full
    assert told == {"rows": [{"id": 7}], "more": False, "changed": 1}
    assert ask(file, "insert into notes values ('new')", write=True).full["changed"] == 1
    assert ask(file, "select 1 as one", write=True).full == {"rows": [{"one": 1}], "more": False, "changed": 0}


@pytest.mark.parametrize("write", [False, True])
def test_the_authorizer_stops_what_the_first_word_lets_through(file, write):
    """Schema, settings and other files, on a connection that has no other wall."""
    with contextlib.closing(Database(file, writes=True).connection()) as connection:
        connection.set_authorizer(Database(file, writes=write).judge)
        for sql in NEVER:
            if not sql.startswith(("explain", "select", "update", "with", "vacuum", "reindex", "analyze")):
                with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                    connection.execute(sql)


def test_a_change_happens_whole_however_few_rows_are_told(file):
    """The limit on rows cuts the answer, not the change."""
    told = ask(file, "update orders set total = 1 returning id", write=True, rows=1).full
    assert (len(told["rows"]), told["more"], told["changed"]) == (1, True, 3)


@pytest.mark.parametrize(
    ("sql", "params", "said"),
    [
        ("", None, "'' is no statement: begin with SELECT, WITH, VALUES"),
        ("-- only a comment", None, "is no statement"),
        ("selec 1", None, "SELEC is not allowed: begin with SELECT, WITH, VALUES"),
        ("select 1; select 2", None, "one statement at a time"),
        ("select * from ordrs", None, "no such table: ordrs: the tables are log, notes"),
        ("select totl from orders", None, "no such column: totl"),
        ("select totl", None, "no such column: totl"),
        ("select 1 as a, 2 as a", None, "two columns are named 'a': give each its own name with AS"),
        ("select ?", [], "Incorrect number of bindings supplied"),
        ("select ?", [2**80], "too large"),
        ("select :a", {"b": 1}, "a"),
        ("select * from orders where", None, "incomplete input"),
        ("select zeroblob(2000000)", None, "too big"),
        ("insert into orders values (1, 'x', 1)", None, "UNIQUE constraint failed"),
    ],
)
def test_a_statement_that_is_wrong_is_told_what_is(file, sql, params, said):
    """It is the model's to mend, so it does not count as a failure of the tool."""
    seen = ask(file, sql, params, write=sql.startswith("insert"))
    assert (seen.status in ("invalid_arguments", "not_allowed"), said in seen.content) == (True, True), seen.content


def test_rows_and_bytes_are_limited(file):
    """What is cut says so."""
    many = "with recursive n(x) as (select 1 union all select x + 1 from n limit 1000) select x, 'text' as t from n"
    assert len(ask(file, many).full["rows"]) == 200
    told = ask(file, many, rows=3).full
    assert ([row["x"] for row in told["rows"]], told["more"]) == ([1, 2, 3], True)
    assert len(ask(file, many, max_bytes=600).full["rows"]) == 50
    assert not ask(file, "select id from orders", rows=3).full["more"]


def test_an_endless_statement_is_stopped(file):
    """By itself, a little before the tool's timeout: so it is known that nothing happened."""
    endless = "with recursive n(x) as (select 1 union all select x + 1 from n) "
    began = time.monotonic()
    seen = ask(file, endless + "select count(*) from n", timeout=0.2)
    assert (seen.status, "the statement was stopped: it may take 0.2 s" in seen.content) == ("tool_error", True)
    seen = ask(file, endless + "delete from orders where id in (select x from n where x > 5)", timeout=0.2, write=True)
    assert seen.status == "tool_error"
    assert count(file, "orders") == 3
    assert time.monotonic() - began < 30


def test_a_database_that_is_none_is_a_failure_of_the_tool(tmp_path):
    """The model cannot mend it."""
    (tmp_path / "text.db").write_text("no database at all, only a text that goes on for a while" * 20, "utf-8")
    seen = ask(tmp_path / "text.db", "select 1 from x")
    assert (seen.status, seen.content) == ("tool_error", "shop failed: DatabaseError: file is not a database")


def test_a_missing_database_is_the_authors_fault_and_is_not_made(file):
    """Found while the file is checked, with the nearest name."""
    with pytest.raises(ToolFault, match="there is no database") as caught:
        tool(file.with_name("sh?p #2.db"), write=True)
    assert (caught.value.name, caught.value.instead) == ("file", "did you mean 'sh?p #1.db'?")
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("name", ["load_extension", "LOAD_EXTENSION", "fts3_tokenizer"])
def test_the_authorizer_knows_the_functions_that_load_code(file, name):
    """Also where a build of SQLite has them switched on."""
    assert Database(file, writes=True).judge(sqlite3.SQLITE_FUNCTION, None, name) == sqlite3.SQLITE_DENY
