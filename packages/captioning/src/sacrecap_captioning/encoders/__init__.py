"""Image encoders by name: pixels to features, one vector for the image and one per region of its grid.

`small` is a few convolutions for small pictures such as the made-up scenes. Other names are classification networks of
torchvision, without their last layers, and vision models of transformers: a folder, or owner/name on the hub.
"""
