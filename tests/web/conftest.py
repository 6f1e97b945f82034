"""A shop of its own for each test."""

from __future__ import annotations

import pathlib

import pytest

from tests.web.kit import Shop


@pytest.fixture
def shop(tmp_path: pathlib.Path) -> Shop:
    return Shop(tmp_path)
