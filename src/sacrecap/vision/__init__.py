"""Object detectors: which things are in an image. Nothing here loads torch before a detector is needed."""

from sacrecap.vision.detector import NANODET, ON_CORRUPT, Detection, Detector, detect_images, load_detector
from sacrecap.vision.image_folder import IMAGE_IDS, find_images

__all__ = [
    "IMAGE_IDS",
    "NANODET",
    "ON_CORRUPT",
    "Detection",
    "Detector",
    "detect_images",
    "find_images",
    "load_detector",
]
__dir__ = __all__.copy
