from command_line import candidates, references, run, write

__all__ = ["candidates", "references", "run", "write"]
