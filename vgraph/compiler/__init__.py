"""The compiler: source text to typed IR to kernel IR to machine code."""
