"""What others wrote: functions that somebody else compiled, and passes of the user's own."""
