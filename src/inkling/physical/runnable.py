"""What a runner needs of a program."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from inkling.logical.plan import ProgramPlan
from inkling.physical.plan import PhysicalPlan


class Runnable(Protocol):
    """A program that is bound and planned; files that its tables name lie in `folder`."""

    @property
    def plan(self) -> ProgramPlan: ...
    @property
    def physical(self) -> PhysicalPlan: ...
    @property
    def folder(self) -> Path: ...
