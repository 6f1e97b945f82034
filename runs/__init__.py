"""What a run is and leaves."""
