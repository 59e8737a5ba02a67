"""Tables fit the width, and no word is cut or lost."""

from hypothesis import given
from hypothesis import strategies as st

from lockstep.report.table import table

CELLS = st.lists(st.text("abcde", min_size=1, max_size=9), max_size=6).map(" ".join)
TABLES = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.lists(CELLS, min_size=columns, max_size=columns), min_size=1, max_size=5)
)


@given(TABLES, st.integers(10, 80))
def test_every_word_is_there_whole(rows: list[list[str]], width: int) -> None:
    words = [word for row in rows for cell in row for word in cell.split()]
    shown = [word for line in table(rows[0], rows[1:], width) for word in line.split()]
    assert sorted(shown) == sorted(words)


@given(TABLES)
def test_it_fits_where_its_words_do(rows: list[list[str]]) -> None:
    longest = [
        max([len(word) for row in rows for word in row[index].split()], default=0) for index in range(len(rows[0]))
    ]
    least = sum(longest) + 2 * (len(longest) - 1)
    assert max(map(len, table(rows[0], rows[1:], max(least, 1)))) <= max(least, 1)


def test_columns_are_aligned() -> None:
    assert table(("Pool", "handlers"), [("win2022", "process"), ("w", "process, hypervisor")], 20) == [
        "Pool     handlers",
        "win2022  process",
        "w        process,",
        "         hypervisor",
    ]
