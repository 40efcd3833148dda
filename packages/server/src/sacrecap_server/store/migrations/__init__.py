"""The migrations, in order; `new` drafts one."""
