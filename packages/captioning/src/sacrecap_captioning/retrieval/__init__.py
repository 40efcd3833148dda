"""An image-caption retrieval model, for rewards that ask whether a caption finds its image."""
