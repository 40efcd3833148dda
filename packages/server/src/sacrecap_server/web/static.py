"""The sheets, scripts and pictures of the pages. Browsers ask each time whether what they have is still right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles


class _Sheets(StaticFiles):
    def file_response(self, *file: Any, **how: Any) -> Response:
        response = super().file_response(*file, **how)
        response.headers["Cache-Control"] = "no-cache"
        return response


STATIC = Mount("/static", _Sheets(directory=Path(__file__).parents[1] / "static"))
