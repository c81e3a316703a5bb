"""The command line: one file a subcommand, put together in `cli`."""
