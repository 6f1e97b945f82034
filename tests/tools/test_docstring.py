"""Docstrings in the three usual styles say the same to a model."""

import pytest

from loopworth.tools.docstring import described

GOOGLE = """Look a project up.

    Give its code.

    Args:
        code (str): the project's code,
            such as ZRG-14
        field: one of: budget, staff
        when (Annotated[date, Field(description="x")], optional): the day

    Returns:
        int: the figure
    """
NUMPY = """Look a project up.

    Give its code.

    Parameters
    ----------
    code : str
        the project's code,
        such as ZRG-14
    field
        one of: budget, staff
    when : date, optional
        the day

    Returns
    -------
    int
        the figure
    """
SPHINX = """Look a project up.

    Give its code.

    :param str code: the project's code,
        such as ZRG-14
    :param field: one of: budget, staff
    :type field: str
    :param when: the day
    :returns: the figure
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_text_and_arguments_are_read(docstring):
    """The text ends where the first section starts; a description spans lines."""
    said = described(docstring)
    assert said.text == "Look a project up.\n\nGive its code."
    assert said.arguments == {
        "code": "the project's code, such as ZRG-14",
        "field": "one of: budget, staff",
        "when": "the day",
    }


@pytest.mark.parametrize("docstring", [None, "", "One line.", "A note: this is text.\nArgs are few."])
def test_a_docstring_without_sections_is_all_text(docstring):
    """A colon or the word alone makes no section."""
    assert described(docstring) == ((docstring or ""), {})
