"""NanoDet-g as data: a detector of COCO's 80 kinds of things, its numbers and the order of its layers. Data alone.

By RangiLyu (https://github.com/RangiLyu/nanodet), under the Apache License 2.0; converted to 16-bit floats by Vladimir
Mandic, MIT. Both licences are in the package's folder. `sacrecap` reads the installed file.
"""

__version__ = "1.0.0"
"""The number of the edition of this file."""
