"""The keys of models: they are looked for before anything is run or paid, as the secrets of tools are."""

from __future__ import annotations

from collections.abc import Mapping

from loopworth.models import ModelSpec, Unavailable
from loopworth.models.opening import KeylessModel, lacking
from loopworth.workflows import spec
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.form import Form, Spotted
from loopworth.workflows.literals import unset


def place(form: Form, written: spec.ModelSpec | None) -> Spotted:
    """Where a form names its model, or the variable of its key."""
    if not isinstance(written, spec.ModelForm):
        return form.at("model")
    return written.at("api_key" if written.api_key is not None else "name")


def keyed(models: Mapping[str, ModelSpec], named: Mapping[str, Spotted]) -> None:
    """Hold models to having their keys; `named` says where the files name them. Nothing is opened.

    Raises WorkflowFault with all that lack one, and Unavailable where no file names such a model.
    """
    found = []
    for key, asked in models.items():
        if (variable := lacking(asked)) and key not in named:
            raise Unavailable(KeylessModel(asked, variable).note)
        if variable:
            why, instead = unset(variable)
            found.append(named[key].fault(f"{asked.name} needs a key, and {why}", instead))
    if found:
        raise WorkflowFault(found)
