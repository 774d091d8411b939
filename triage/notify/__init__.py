"""Who is told of what became different, and how it reaches them: alerts, messages, a queue on disk, receivers."""
