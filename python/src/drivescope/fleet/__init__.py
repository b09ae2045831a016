"""The fleet: results of many hosts in one lake, and questions to it.

`Lake` stores, `rows` reads stores, `simulate` makes fleets with known truth, and each module of `questions` answers one
question with the same expressions on DuckDB and Spark. `python -m drivescope.fleet --help` has them as commands.
"""

from .lake import Lake, LakeError, Written

__all__ = ["Lake", "LakeError", "Written"]
