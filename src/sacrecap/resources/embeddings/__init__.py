"""Word vectors: all usual file formats, a default inside the package, and named ones that can be fetched.

`open_embeddings` takes a name or a file; `Embeddings.find` turns labels and words into vectors. Nothing is read before
the first vector, dimension or checksum is asked for.
"""

from sacrecap.resources.embeddings.embeddings import Embeddings, open_embeddings

__all__ = ["Embeddings", "open_embeddings"]
