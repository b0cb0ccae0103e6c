//! The command stream: typed, owned commands, and the command processor that walks them.
