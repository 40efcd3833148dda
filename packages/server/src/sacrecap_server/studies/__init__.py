"""Human studies on the server: who is asked what, and what they answered."""
