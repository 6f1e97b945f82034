"""Several arms on the same tasks: run side by side, scored, measured, and a verdict on which earns its place.

Files (`language`, `spec`, `check`, `tasks`, `cells`, `choice`) become a `comparison`; its `execution` makes the trials,
`scores` say what is right, and `report` and `verdict` are folds over what came of them. Nothing is exported here.
"""
