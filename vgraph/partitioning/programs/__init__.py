"""The steps of the multilevel partitioner as programs of the language."""
