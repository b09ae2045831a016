//! What lies between host and drive: its rate, what a command costs, how many it carries at once.
