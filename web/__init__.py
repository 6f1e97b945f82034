"""The inbox, the runs and the comparisons of a store, in a browser."""
