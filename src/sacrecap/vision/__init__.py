"""Object detectors: which things are in an image. Nothing here loads torch before a detector is needed."""

from capeval.vision.detector import Detection, Detector, default_threshold, load_detector
from capeval.vision.images import IMAGE_IDS, find_images
from capeval.vision.run import ON_CORRUPT, detect_images

__all__ = [
    "IMAGE_IDS",
    "ON_CORRUPT",
    "Detection",
    "Detector",
    "default_threshold",
    "detect_images",
    "find_images",
    "load_detector",
]
