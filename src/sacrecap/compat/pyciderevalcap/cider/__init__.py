"""CIDEr as its authors' program counts it: no stems."""
