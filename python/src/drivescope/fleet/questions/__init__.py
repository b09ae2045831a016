"""Questions to a lake: one module for each, an expression that engines run and the statistics on what they return."""
