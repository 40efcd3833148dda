"""The database: made once, left alone where it is of something else, and no column that nobody has spoken for."""

from __future__ import annotations

import contextlib

import pytest
from sqlalchemy import inspect

from sacrecap.errors import DataError
from sacrecap_server.store.database import VERSION, Database, unstorable
from sacrecap_server.store.schema import ABOUT_PEOPLE, Base, KeyValue


def test_it_is_made_once_and_opened_again(tmp_path):
    file = str(tmp_path / "a.db")
    for _ in range(2):
        with contextlib.closing(Database(file)) as database:
            database.prepare()
            with database.write() as session:
                session.merge(KeyValue(name="a", value="b"))
            with database.engine.connect() as connection:
                assert connection.exec_driver_sql("PRAGMA user_version").scalar_one() == VERSION
                assert set(inspect(connection).get_table_names()) == set(Base.metadata.tables)
            with database.read() as session:
                assert session.get(KeyValue, "a").value == "b"


def test_tables_of_something_else_are_left_alone(tmp_path):
    with contextlib.closing(Database(str(tmp_path / "a.db"))) as database:
        with database.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num TEXT)")
        with pytest.raises(DataError, match="has made its tables"):
            database.prepare()
        with database.engine.connect() as connection:
            assert inspect(connection).get_table_names() == ["alembic_version"]


OTHER = {
    "annotator": "id study_id practised lean check_lean wave",
    "assignment": "id study_id item_id state expires role group round",
    "blob": "sha256 size data",
    "kept": "name value",
    "study": "id code kind title state judgments most_per_person minutes settings created closed seed wave",
    "study_findings": "study_id state computed",
    "study_image": "study_id image_id code url blob_sha media_type",
    "study_item": "id study_id role number group content answer taken shuffle because image_id",
}
"""Columns by table, separated by blanks, that say nothing about a person, or only together with those above."""


def test_every_column_is_declared():
    known = {f"{table.name}.{column.name}" for table in Base.metadata.sorted_tables for column in table.c}
    others = {f"{table}.{column}" for table, columns in OTHER.items() for column in columns.split()}
    personal = {
        f"{table.name}.{column.name}" for table in Base.metadata.sorted_tables for column in table.c if column.doc
    }
    assert known == others | personal
    assert not others & personal
    assert set(ABOUT_PEOPLE) == {name.partition(".")[0] for name in personal}


def test_the_page_says_what_is_stored_and_the_owners_words(tmp_path, new_world):
    (tmp_path / "privacy.txt").write_text("We are <the> lab.", encoding="utf-8")
    page = new_world(privacy_file=str(tmp_path / "privacy.txt")).client().get("/privacy").text
    assert "We are &lt;the&gt; lab." in page
    docs = [column.doc for table in Base.metadata.sorted_tables for column in table.c if column.doc]
    assert len(docs) == 36
    for words in docs:
        assert words.replace("'", "&#39;") in page


def test_what_no_column_holds():
    held = 2**63 - 1, -(2**63), "a\n", None, b"\x00"
    assert not any(map(unstorable, held))
    assert all(map(unstorable, (2**63, -(2**63) - 1, "a\x00", "\ud800")))
