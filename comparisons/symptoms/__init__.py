"""What goes wrong in runs, one module for each part of a workflow, over what a run did and what its answer claims."""
