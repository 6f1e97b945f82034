"""Reading an invoice without a model: regular expressions for the two layouts that their author had seen."""

from __future__ import annotations

import re
from typing import Any

FIELDS = {
    "number": r"^Invoice:? ([A-Z]{2}-\d{4})$",
    "net": r"^Net:? (\d+)$",
    "vat": r"^VAT:? (\d+)$",
    "total": r"^Total(?: due)?:? (\d+)$",
}


def read(invoice: str) -> dict[str, Any]:
    """Read number, net, VAT and total out of an invoice.

    Args:
        invoice: The text of the invoice.
    """
    found = {field: re.search(pattern, invoice, re.MULTILINE) for field, pattern in FIELDS.items()}
    read = {field: match[1] for field, match in found.items() if match}
    if missing := ", ".join(field for field in FIELDS if field not in read):
        raise ValueError(f"found no {missing}")
    return {"number": read["number"], **{field: int(read[field]) for field in ("net", "vat", "total")}}
