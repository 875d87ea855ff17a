"""Build the source distribution and, from it alone, a wheel; look into both and try the wheel.

    python tools/release_check.py

Everything happens in a temporary folder: the sources unpacked there, a fresh environment for the
build, and another one in which nothing but the wheel and pytest are installed. The wheel is built
without a network: what the build requires is downloaded first, into a folder, and pip sees nothing
else. The source distribution and the wheel end up in dist/.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
NEEDED = ("LICENSE", "README.md", "CMakeLists.txt", "pyproject.toml", "native/bindings.cpp",
          "src/graphkm/__init__.py", "reproduction/__main__.py", "tests/test_smoke.py")  # fmt: skip


# Programs that look for a network find a door that nobody opens.
OFFLINE = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
TOOLS = ("cmake", "ninja")  # scikit-build-core asks for them where the system has none


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> None:
    print("+", *command, flush=True)
    found = os.environ | environment
    subprocess.run([str(part) for part in command], cwd=cwd, env=found, check=True)


def require(condition: bool, message: str) -> None:
    if not condition:
        raise SystemExit(f"release check: {message}")


def build_sources(folder: Path) -> Path:
    """Return the source distribution."""
    run(sys.executable, "-m", "build", "--sdist", "--outdir", folder, ROOT)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def unpack(archive: Path, folder: Path) -> Path:
    """Return the folder of the sources: all that a build needs, and no built files."""
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (sources,) = folder.iterdir()
    for name in NEEDED:
        require((sources / name).is_file(), f"{archive.name} lacks {name}")
    strays = [path for path in sources.rglob("*") if path.suffix in (".so", ".pyd", ".o", ".pyc")]
    require(not strays, f"{archive.name} holds built files: {strays}")
    return sources


def build_wheel(archive: Path, folder: Path) -> Path:
    """Return the wheel, built from the archive in an environment of its own, without a network."""
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    store = folder / "required"
    run(sys.executable, "-m", "pip", "download", "--quiet", "--dest", store, *required, *TOOLS)
    alone = ("--isolated", "--no-index", "--find-links", store, "--no-deps", "--no-cache-dir")
    built = folder / "wheel"
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet")
    run(*pip, *alone, "--wheel-dir", built, archive, cwd=folder, **OFFLINE)
    (wheel,) = built.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Check the tag, and that the wheel holds the package's files in git and no others."""
    tag = "cp312-abi3" if sys.version_info >= (3, 12) else "cp311-cp311"
    require(tag in wheel.name, f"{wheel.name} is not tagged {tag}")
    with zipfile.ZipFile(wheel) as file:
        names = {PurePosixPath(name) for name in file.namelist()}
    package = {name for name in names if name.parts[0] == "graphkm"}
    info = {name for name in names if re.fullmatch(r"graphkm-[\d.]+\.dist-info", name.parts[0])}
    require(names == package | info, f"stray files: {sorted(map(str, names - package - info))}")
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT / "src", text=True)
    source = {PurePosixPath(line) for line in listed.splitlines()}
    compiled = {name for name in package if name.suffix in (".so", ".pyd")}
    require(len(compiled) == 1, f"one compiled module is expected, not {sorted(compiled)}")
    require(
        package == source | compiled,
        f"the wheel and src/ differ: {sorted(map(str, package ^ (source | compiled)))}",
    )


def check_metadata(*archives: Path) -> None:
    """Check both with twine and abi3audit."""
    run(sys.executable, "-m", "twine", "check", "--strict", *archives)
    for archive in archives:
        if "abi3" in archive.name:
            run(sys.executable, "-m", "abi3audit", "--strict", "--report", archive)


def try_out(wheel: Path, sources: Path, folder: Path) -> None:
    """Install the wheel where nothing else is, and run the small tests against it."""
    venv.create(folder, with_pip=True)
    scripts = sysconfig.get_path("scripts", "venv", {"base": str(folder)})
    python = Path(scripts) / ("python.exe" if sys.platform == "win32" else "python")
    run(python, "-m", "pip", "install", "--quiet", wheel, "pytest")
    # Away from the sources, which must not be imported.
    tests = shutil.copytree(sources / "tests", folder / "tests")
    chosen = [tests / name for name in ("test_smoke.py", "test_native.py")]
    run(python, "-m", "pytest", "-W", "error", "-q", *chosen, cwd=folder)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    run(python, "-c", f"import graphkm; assert graphkm.__version__ == {version!r}", cwd=folder)
    try_extras(python, wheel, folder)


def try_extras(python: Path, wheel: Path, folder: Path) -> None:
    """Have pip find the requirements of all extras, and run the command with its own."""
    run(python, "-m", "pip", "install", "--quiet", "--dry-run", f"{wheel}[all]")
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]")
    command = python.with_name("graphkm.exe" if sys.platform == "win32" else "graphkm")
    run(command, "demo", "--no-plot", cwd=folder)
    run(command, "doctor", cwd=folder)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("built", "sources"):
            (folder / part).mkdir()
        archive = build_sources(folder / "built")
        sources = unpack(archive, folder / "sources")
        wheel = build_wheel(archive, folder)
        check_contents(wheel)
        check_metadata(archive, wheel)
        try_out(wheel, sources, folder / "environment")
        (ROOT / "dist").mkdir(exist_ok=True)
        for built in (archive, wheel):
            shutil.copy(built, ROOT / "dist")
    print(f"{archive.name} and {wheel.name} are good, and lie in dist/.")


if __name__ == "__main__":
    main()
