//! Flash drives: dies behind channels, a translation that moves pages, and caches that fill.
