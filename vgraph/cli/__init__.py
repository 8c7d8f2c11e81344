"""The command line: `vgraph run`, `info`, `explain`, `partition`, `list` and `demo`, one file each, behind `main`."""
