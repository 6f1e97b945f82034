"""The YAML language: read, checked, compiled; and the pipeline."""
