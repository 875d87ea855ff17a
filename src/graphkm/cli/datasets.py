"""`graphkm datasets`: the public data sets that can be fetched."""

from __future__ import annotations

EXAMPLES = ("graphkm datasets",)


def datasets() -> None:
    """List the public data sets that can be fetched."""
    from rich.console import Console
    from rich.table import Table

    from ..datasets import list_datasets

    table = Table("name", "rows", "features", "classes", "source")
    for info in list_datasets():
        table.add_row(
            info.name, f"{info.rows:,}", f"{info.features:,}", str(info.classes), info.source
        )
    Console().print(table)
