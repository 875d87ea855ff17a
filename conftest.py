"""Examples in docstrings write their files into a folder of their own."""

import pytest


@pytest.fixture(autouse=True)
def _own_folder(request):
    if isinstance(request.node, pytest.DoctestItem):
        folder = request.getfixturevalue("tmp_path")
        request.getfixturevalue("monkeypatch").chdir(folder)
