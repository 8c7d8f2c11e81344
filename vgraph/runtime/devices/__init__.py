"""The devices: how a program is compiled, loaded, bound to its arrays and run on each."""
