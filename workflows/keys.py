"""The keys of models: they are looked for before anything is run or paid, as the secrets of tools are."""

from __future__ import annotations

from collections.abc import Mapping

from loopworth.models import Model, ModelSpec, Unavailable, open_model
from loopworth.models.opening import KeylessModel
from loopworth.workflows import spec
from loopworth.workflows.faults import WorkflowFault
from loopworth.workflows.form import Form, Spotted
from loopworth.workflows.literals import unset


def place(form: Form, written: spec.ModelSpec | None) -> Spotted:
    """Where a form names its model, or the variable of its key."""
    if not isinstance(written, spec.ModelForm):
        return form.at("model")
    return written.at("api_key" if written.api_key is not None else "name")


def keyed(models: Mapping[str, Model], named: Mapping[str, Spotted]) -> None:
    """Hold opened models to having their keys; `named` says where the files name them. Nothing is sent.

    Raises WorkflowFault with all that lack one, and Unavailable where no file names such a model.
    """
    found = []
    for key, model in models.items():
        if isinstance(model, KeylessModel) and key not in named:
            raise Unavailable(model.note)
        if isinstance(model, KeylessModel):
            why, instead = unset(model.variable)
            found.append(named[key].fault(f"{model.endpoint} needs a key, and {why}", instead))
    if found:
        raise WorkflowFault(found)


def at_hand(specs: Mapping[str, ModelSpec], named: Mapping[str, Spotted]) -> None:
    """The same of models that are to be opened later, by whoever makes the runs."""
    keyed({key: open_model(spec) for key, spec in specs.items()}, named)
