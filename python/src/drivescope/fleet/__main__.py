"""`python -m drivescope.fleet COMMAND`: the lake, the questions, the report and the simulated fleet."""

import sys

from .commands import main

sys.exit(main(sys.argv[1:]))
