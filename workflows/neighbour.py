"""The file that was most likely meant where a name leads to none."""

from __future__ import annotations

from pathlib import Path

from loopworth.runs.spelling import nearest


def neighbour(path: Path) -> Path | None:
    """The file of the same folder that was most likely meant: a near name, or the same one with another ending."""
    if not path.parent.is_dir():
        return None
    others = sorted(other.name for other in path.parent.iterdir() if other.is_file() and other != path)
    near = nearest(path.stem, (Path(other).stem for other in others if Path(other).suffix == path.suffix))
    names = (
        [f"{near}{path.suffix}"] if near is not None else [other for other in others if Path(other).stem == path.stem]
    )
    return path.parent / names[0] if names else None


def advice_for(path: Path, near: Path | None) -> str:
    """What to write in place of a file that is not there: its neighbour, or which folder is missing."""
    if near is not None:
        return f"did you mean {str(near)!r}?"
    return "" if path.parent.is_dir() else f"there is no folder {str(path.parent)!r}"
