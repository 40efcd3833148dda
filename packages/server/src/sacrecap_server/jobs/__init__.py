"""Work that outlasts a request, in processes with limits."""
