"""What people look up: rules, terms and error texts, each a file of its own in the folder beside.

`rules/LWnnn.md` is the page of a finding's id, `terms/<word>.yaml` a word's meaning, `errors/<name>.yaml` an error
text from a cluster with its causes.
"""
