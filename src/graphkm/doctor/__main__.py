"""``python -m graphkm.doctor``: for environments in which the command `graphkm` cannot start."""

import json
import sys

from . import examine, lines, verdict


def main(arguments: list[str]) -> int:
    """Print the findings; return 1 if something that graphkm needs is broken."""
    facts = examine()
    if arguments == ["--json"]:
        print(json.dumps(facts))
    else:
        table = lines(facts)
        width = max(len(name) for name, _ in table)
        print("\n".join(f"{name:{width}}  {text}" for name, text in table))
        print("", *verdict(facts), sep="\n")
    return bool(facts["broken"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
