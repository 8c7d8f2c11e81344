"""The command line: `vgraph run`, `info`, `explain`, `list` and `demo`, one file each, behind `main`."""
