"""What the passes and the axes ask about programs: effects, guards, gathers, lanes, pieces, payloads, counts."""
