"""What is wrong, in the eyes of the domains: a description, files that people already have, and all of it together.

One rule a module: `find` is a function from data to findings, `RULE` its id. A folder is an area, and listing its
modules is what registers them.
"""
