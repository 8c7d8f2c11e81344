"""The command line: `vgraph run`, `info`, `convert`, `explain` and the others, one file each, behind `main`."""
