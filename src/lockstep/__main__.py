"""`python -m lockstep` is the `lockstep` program."""

import sys

from lockstep.cli import main

sys.exit(main())
