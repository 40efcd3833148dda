"""Coverage and precision: what a caption says, compared with what its references say."""
