def find(name): return None
