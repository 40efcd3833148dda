from command_line import run

__all__ = ["run"]
