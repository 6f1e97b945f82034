"""The one tool layer: every rule around a call, whoever makes it."""
