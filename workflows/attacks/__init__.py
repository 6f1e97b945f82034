"""Attacks on the gates of a workflow, and the stage that they are made on."""
