"""Files are replaced whole or not at all; pipes, devices and links stay what they are."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cli_runner import moons, process, write_csv
from cli_runner import run_machine as run
from graphkm import GKMClassifier
from graphkm._util import files as _files
from graphkm._util.files import destination, is_stream, previous_path, replacing, writable_place
from graphkm.exchange import ModelFileError, load_model, save_model, to_libsvm

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, links, permissions of POSIX")


def write(path, content, **options):
    with replacing(path, **options) as file:
        file.write(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def listening(path):
    """Read what is written into a pipe meanwhile; `read` holds it afterwards."""
    os.mkfifo(path)
    before, read = os.stat(path), []

    def listen():
        with open(path, "rb") as file:
            read.append(file.read())

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    yield read
    listener.join(timeout=60)
    assert not listener.is_alive(), "nobody wrote into the pipe"
    after = os.lstat(path)
    assert stat.S_ISFIFO(after.st_mode)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)


NOBODY = """
    import os

    def become_nobody():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
"""


def with_nobody(text, folder, mode):
    """Run Python that can become a user whom permissions hold, once it has loaded all it needs.

    It names files relative to the folder, since the folders above are private.
    """
    folder.chmod(mode)
    command = [sys.executable, "-c", textwrap.dedent(NOBODY) + textwrap.dedent(text)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


# ---------------------------------------------------------------- files


def test_a_file_is_replaced_and_the_one_before_kept(tmp_path):
    path = tmp_path / "a"
    write(path, b"1", keep_previous=True)
    assert names(tmp_path) == ["a"]
    write(path, b"2", keep_previous=True)
    write(path, b"3", keep_previous=True)
    assert path.read_bytes() == b"3" and previous_path(path).read_bytes() == b"2"
    write(path, b"4")
    assert path.read_bytes() == b"4" and names(tmp_path) == ["a", "a.previous"]


def test_readers_find_the_old_file_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with open(path, "rb") as opened, replacing(path) as file:
        file.write(b"new, and longer")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new, and longer"
    assert opened.closed


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_whatever_is_raised_what_was_there_stays(tmp_path, error):
    for path in (tmp_path / "a", tmp_path / "new"):
        (tmp_path / "a").write_bytes(b"old")
        with pytest.raises(error), replacing(path, keep_previous=True) as file:
            file.write(b"x" * 10**6)
            raise error
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.parametrize("call", ["fdopen", "fsync", "link", "replace"])
def test_a_disk_that_fails(tmp_path, monkeypatch, call):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(_files.os, call, full)
        patched.setattr(_files.shutil, "copyfile", full)
        with pytest.raises(OSError, match="No space left"):
            write(path, b"new", keep_previous=True)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["a"]


def test_a_file_system_without_links_keeps_a_copy(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    path = tmp_path / "a"
    path.write_bytes(b"old")
    monkeypatch.setattr(_files.os, "link", refuse)
    write(path, b"new", keep_previous=True)
    assert path.read_bytes() == b"new" and previous_path(path).read_bytes() == b"old"


@posix
def test_a_writer_that_died_between_keeping_and_replacing(tmp_path):
    """Both names are of one file then, and renaming one to the other does nothing."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    previous_path(path).hardlink_to(path)
    write(path, b"new", keep_previous=True)
    assert path.read_bytes() == b"new" and previous_path(path).read_bytes() == b"old"
    assert names(tmp_path) == ["a", "a.previous"]


@posix
def test_a_write_is_flushed_before_it_is_renamed_and_the_folder_after(tmp_path, monkeypatch):
    done, fsync, rename = [], os.fsync, os.replace
    (tmp_path / "a").write_bytes(b"old")

    def noted_fsync(handle):
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def noted_replace(source, target):
        done.append(os.path.basename(target))
        rename(source, target)

    monkeypatch.setattr(_files.os, "fsync", noted_fsync)
    monkeypatch.setattr(_files.os, "replace", noted_replace)
    write(tmp_path / "a", b"new", keep_previous=True)
    assert done == ["file", "a.previous", "a", "folder"]


@posix
def test_permissions_are_handed_on_and_the_umask_holds_for_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "new", b"1")
        assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == 0o640
        for mode in (0o600, 0o664, 0o755):
            (tmp_path / "new").chmod(mode)
            with replacing(tmp_path / "new") as file:
                assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode  # from the beginning
            assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == mode
    finally:
        os.umask(before)


@posix
def test_the_superuser_gives_files_back_to_their_owner(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only the superuser gives files away")
    write(tmp_path / "a", b"1")
    os.chown(tmp_path / "a", 65534, 65534)
    write(tmp_path / "a", b"2")
    assert (os.stat(tmp_path / "a").st_uid, os.stat(tmp_path / "a").st_gid) == (65534, 65534)


@posix
def test_write_protected_files_are_not_replaced(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o444)
    answer = with_nobody(
        """
        from graphkm._util.files import replacing
        become_nobody()
        try:
            with replacing("a") as file:
                file.write(b"new")
        except PermissionError as error:
            print(error)
        """,
        tmp_path,
        0o777,
    )
    assert "it is write-protected" in answer.stdout, answer.stderr
    assert (tmp_path / "a").read_bytes() == b"old" and names(tmp_path) == ["a"]


# ---------------------------------------------------------------- several writers


def test_two_writers_at_once_do_not_meet(tmp_path):
    path = tmp_path / "a"
    with replacing(path) as first:
        first.write(b"first")
        with replacing(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first" and names(tmp_path) == ["a"]


def test_many_writers_at_once_leave_whole_files(tmp_path):
    path, stop, seen, failed = tmp_path / "a", threading.Event(), set(), []
    write(path, b"0" * 4096)

    def work(letter):
        try:
            for _ in range(60):
                write(path, letter * 4096, keep_previous=True)
        except BaseException as error:
            failed.append(error)

    def look():
        while not stop.is_set():
            seen.add(path.read_bytes())

    writers = [threading.Thread(target=work, args=(bytes([65 + k]),)) for k in range(4)]
    reader = threading.Thread(target=look)
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()
    assert failed == []
    assert all(len(content) == 4096 and len(set(content)) == 1 for content in seen)
    assert names(tmp_path) == ["a", "a.previous"]


@posix
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    text = """
        import sys
        from graphkm._util.files import replacing
        with replacing(sys.argv[1], keep_previous=True) as file:
            file.write(b"half"); file.flush()
            print("writing", flush=True)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(text), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None and writer.stdout.readline() == b"writing\n"
        write(path, b"meanwhile")  # leaves the living one's file alone
        assert len(names(tmp_path)) == 2
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    assert path.read_bytes() == b"meanwhile" and len(names(tmp_path)) == 2
    write(path, b"new")
    assert path.read_bytes() == b"new" and names(tmp_path) == ["a"]


# ---------------------------------------------------------------- links


@posix
def test_links_stay_and_their_target_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    target, near, chain = tmp_path / "far" / "model", tmp_path / "near", tmp_path / "far" / "chain"
    target.write_bytes(b"old")
    near.symlink_to("far/chain")  # relative to where the link lies, not to where we are
    chain.symlink_to("model")
    write(near, b"new", keep_previous=True)
    assert near.is_symlink() and chain.is_symlink() and not target.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["far", "near"]
    assert names(tmp_path / "far") == ["chain", "model", "model.previous"]
    assert previous_path(near).read_bytes() == b"old"


@posix
def test_links_are_followed_as_the_system_does(tmp_path):
    """Beyond a folder that is a link itself, .. is another one than it seems."""
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "folder").symlink_to("real/inner")
    (tmp_path / "real" / "inner" / "link").symlink_to("../target")
    write(tmp_path / "folder" / "link", b"x")
    assert (tmp_path / "real" / "target").read_bytes() == b"x"


@posix
def test_dangling_links_create_their_target(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(tmp_path / "link", b"x", keep_previous=True)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == b"x"
    assert names(tmp_path) == ["link", "target"]


@posix
def test_links_that_lead_nowhere_are_told(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="lead in a circle") as error:
        write(tmp_path / "a", b"x")
    assert error.value.errno == errno.ELOOP and error.value.filename == str(tmp_path / "a")
    (tmp_path / "c").symlink_to("missing/target")
    with pytest.raises(FileNotFoundError, match=r"no such folder, and the link .*c leads into it"):
        write(tmp_path / "c", b"x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "d").symlink_to("folder")
    with pytest.raises(IsADirectoryError, match="name a file"):
        write(tmp_path / "d", b"x")
    assert names(tmp_path) == ["a", "b", "c", "d", "folder"]


@posix
@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_what_is_called_previous_and_is_no_file_stays(tmp_path, kind):
    path, previous = tmp_path / "a", tmp_path / "a.previous"
    path.write_bytes(b"old")
    if kind == "link":
        previous.symlink_to("elsewhere")
    elif kind == "folder":
        previous.mkdir()
    else:
        os.mkfifo(previous)
    before = os.lstat(previous)
    write(path, b"new", keep_previous=True)
    assert path.read_bytes() == b"new" and names(tmp_path) == ["a", "a.previous"]
    assert (os.lstat(previous).st_ino, os.lstat(previous).st_mode) == (
        before.st_ino,
        before.st_mode,
    )


# ---------------------------------------------------------------- pipes and devices


@posix
def test_pipes_are_written_into(tmp_path):
    with listening(tmp_path / "pipe") as read:
        write(tmp_path / "pipe", b"x" * 10**6, keep_previous=True)
    assert read == [b"x" * 10**6] and names(tmp_path) == ["pipe"]
    (tmp_path / "pipe").unlink()
    (tmp_path / "link").symlink_to("pipe")
    with listening(tmp_path / "pipe") as read:
        write(tmp_path / "link", b"y")
    assert read == [b"y"] and (tmp_path / "link").is_symlink()


@posix
def test_devices_are_written_into():
    """A terminal of our own, which nobody misses if it should be replaced."""
    master, terminal = os.openpty()
    try:
        path = os.ttyname(terminal)
        before = os.stat(path)
        assert is_stream(path) and writable_place(path) == Path(path)
        write(path, b"hello\n", keep_previous=True)
        assert os.read(master, 100) == b"hello\r\n"
        after = os.lstat(path)
        assert stat.S_ISCHR(after.st_mode)
        assert (after.st_ino, after.st_rdev) == (before.st_ino, before.st_rdev)
    finally:
        os.close(master)
        os.close(terminal)


OWN_OUTPUT = """
    import sys
    from graphkm._util.files import replacing
    print("before", flush=True)
    with replacing(sys.argv[1], keep_previous=True) as file:
        file.write(b"between\\n")
    print("after")
"""


@posix
@pytest.mark.parametrize("path", ["/dev/stdout", "/dev/fd/1", "link"])
def test_the_own_output_is_written_into_wherever_it_goes(tmp_path, path):
    """A file that the shell has opened is not replaced: it may hold more, and more may come."""
    (tmp_path / "link").symlink_to("/dev/stdout")
    command = [sys.executable, "-c", textwrap.dedent(OWN_OUTPUT), path]
    piped = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert piped.stdout == "before\nbetween\nafter\n"
    (tmp_path / "out").write_text("earlier\n")
    with open(tmp_path / "out", "a") as file:
        subprocess.run(command, stdout=file, check=True, cwd=tmp_path)
    assert (tmp_path / "out").read_text() == "earlier\nbefore\nbetween\nafter\n"
    assert names(tmp_path) == ["link", "out"]


@posix
def test_an_open_file_is_told_from_a_file_whose_name_is_a_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("1", b"x")
    assert (tmp_path / "1").read_bytes() == b"x" and not is_stream("1")


@posix
def test_a_reader_that_goes_away_is_an_error(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: open(path, "rb").close())
    reader.start()
    with pytest.raises(BrokenPipeError), replacing(path) as file:
        reader.join()
        file.write(b"x" * 10**6)
    assert stat.S_ISFIFO(os.lstat(path).st_mode)


# ---------------------------------------------------------------- every writer


X, Y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2


@pytest.fixture(scope="module")
def model():
    """Return a small model."""
    return GKMClassifier(random_state=0).fit(X, Y)


WRITERS = {
    "save_model": lambda model, path: save_model(model, path),
    "to_libsvm": lambda model, path: to_libsvm(model, path),
    "to_onnx": lambda model, path: pytest.importorskip("onnx") and to_onnx(model, path),
    "picture": lambda model, path: draw(model, path),
}


def to_onnx(model, path):
    from graphkm.exchange import to_onnx

    to_onnx(model, path)


def draw(model, path):
    pytest.importorskip("matplotlib")
    from graphkm.cli.demo import draw

    draw([model, model], [0.5, 0.5], X, Y, path)


@pytest.mark.dear
@posix
@pytest.mark.parametrize("writer", WRITERS)
def test_every_writer_writes_through_links_and_into_pipes(tmp_path, model, writer):
    (tmp_path / "plain").mkdir()
    WRITERS[writer](model, tmp_path / "plain" / "a")
    expected = (tmp_path / "plain" / "a").read_bytes()
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    WRITERS[writer](model, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == expected
    (tmp_path / "pipes").mkdir()
    with listening(tmp_path / "pipes" / "pipe") as read:
        WRITERS[writer](model, tmp_path / "pipes" / "pipe")
    assert read == [expected] and names(tmp_path / "pipes") == ["pipe"]


@posix
def test_models_are_read_from_pipes(tmp_path, model):
    save_model(model, tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    content = (tmp_path / "a").read_bytes()
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
    writer.start()
    loaded = load_model(tmp_path / "pipe")
    writer.join()
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@posix
def test_links_in_a_circle_are_no_place_for_a_model(tmp_path, model):
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(ModelFileError, match="lead in a circle"):
        save_model(model, tmp_path / "a")


# ---------------------------------------------------------------- the command line


@pytest.fixture
def folder(tmp_path):
    """Return a folder with rows and a model of them."""
    rows, y, _ = moons(120)
    write_csv(tmp_path / "a.csv", rows, y)
    assert run("train", tmp_path / "a.csv", tmp_path / "m.gkm") == 0
    return tmp_path


@pytest.mark.long
@posix
def test_commands_write_into_pipes_and_through_links(folder):
    assert run("predict", folder / "m.gkm", folder / "a.csv", "--out", folder / "p.csv") == 0
    with listening(folder / "pipe") as read:
        assert run("predict", folder / "m.gkm", folder / "a.csv", "--out", folder / "pipe") == 0
    assert read == [(folder / "p.csv").read_bytes()]
    (folder / "pipe").unlink()
    with listening(folder / "pipe") as read:
        assert run("train", folder / "a.csv", folder / "pipe") == 0
    assert read[0].startswith(b"graphkm\n")
    (folder / "latest").symlink_to("m.gkm")
    assert run("train", folder / "a.csv", folder / "latest") == 0
    assert (folder / "latest").is_symlink() and (folder / "m.gkm.previous").is_file()


@pytest.mark.long
@posix
def test_dev_null_stays_a_device(folder):
    """As a user who could not replace it, should the code ever try to."""
    text = """
        from graphkm.cli import main
        for model in ("n.gkm", "/dev/null"):
            try:
                main(["train", "a.csv", model, "--method", "gkm"])
            except SystemExit as end:
                assert not end.code
            become_nobody()
            assert not os.access("/dev", os.W_OK)
    """
    answer = with_nobody(text, folder, 0o755)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.count("/dev/null") == 1
    assert stat.S_ISCHR(os.lstat("/dev/null").st_mode)


@posix
def test_a_checkpoint_is_a_file(folder, capsys):
    os.mkfifo(folder / "pipe")
    for arguments in (
        (folder / "pipe",),
        (folder / "n.gkm", "--checkpoint", folder / "pipe"),
        (folder / "n.gkm", "--checkpoint", folder / "pipe", "--restart"),
    ):
        assert run("stream", folder / "a.csv", *arguments) == 2
        assert "pipe or a device, and a checkpoint is read again" in capsys.readouterr().err
    assert stat.S_ISFIFO(os.lstat(folder / "pipe").st_mode)
    here = folder / "n.gkm"
    assert run("stream", folder / "a.csv", here, "--checkpoint", here) == 2
    assert "name another file" in capsys.readouterr().err


@posix
def test_restarting_keeps_a_link_to_the_checkpoint(folder):
    (folder / "far").mkdir()
    (folder / "c").symlink_to("far/c")
    command = ("stream", folder / "a.csv", folder / "n.gkm", "--checkpoint", folder / "c")
    assert run(*command) == run(*command, "--restart") == run(*command) == 0
    assert (folder / "c").is_symlink() and (folder / "far" / "c").is_file()


@pytest.mark.long
def test_what_is_read_is_not_replaced(folder, capsys):
    data, model = folder / "a.csv", folder / "m.gkm"
    (folder / "same.csv").hardlink_to(data)
    before = data.read_bytes(), model.read_bytes()
    for arguments in (
        ("train", data, data),
        ("train", data, folder / "same.csv"),
        ("train", data, folder / "x.gkm", "--unlabeled-data", folder / "x.gkm"),
        ("train", data, data, "--method", "gkm", "--search"),
        ("stream", data, data),
        ("stream", data, folder / "n.gkm", "--checkpoint", data),
        ("predict", model, data, "--out", data),
        ("predict", model, data, "--out", model),
        ("export", model, "--to", "libsvm", "--out", model),
    ):
        (folder / "x.gkm").write_bytes(data.read_bytes())
        assert run(*arguments) == 2, arguments
        assert "is an input, and would be replaced" in capsys.readouterr().err
    assert (data.read_bytes(), model.read_bytes()) == before


def test_models_need_a_file(folder, capsys):
    for arguments in (
        ("train", folder / "a.csv", "-"),
        ("stream", folder / "a.csv", "-"),
        ("train", folder / "a.csv", "-", "--method", "gkm", "--search"),
        ("export", folder / "m.gkm", "--to", "libsvm", "--out", "-"),
        ("demo", "--out", "-"),
    ):
        assert run(*arguments) == 2, arguments
        assert "this needs a file" in capsys.readouterr().err


@pytest.mark.long
@posix
@pytest.mark.slow
def test_rows_that_can_be_read_only_once(folder):
    """A named pipe is as good as standard input."""
    os.mkfifo(folder / "rows.csv")
    content = (folder / "a.csv").read_bytes()
    for command in ("train", "stream"):
        writer = threading.Thread(target=(folder / "rows.csv").write_bytes, args=(content,))
        writer.start()
        done = process(command, folder / "rows.csv", folder / f"{command}.gkm")
        writer.join(timeout=60)
        assert done.returncode == 0 and not writer.is_alive(), done.stderr
    assert destination(folder / "train.gkm").is_file()


def test_errors_are_told_in_words(folder, capsys):
    (folder / "sub").mkdir()
    for arguments, message in (
        (("info", folder / "sub"), "sub: the file could not be read (Is a directory)."),
        (("train", "", folder / "n.gkm"), "'': no such file or directory."),
        (
            ("stream", folder / "a.csv", folder / "n.gkm", "--checkpoint", folder / "sub"),
            "a folder",
        ),
    ):
        assert run(*arguments) in (2, 3)
        told = capsys.readouterr().err
        assert message in told and "Errno" not in told and told.count("\n") == 1


def test_a_single_labelled_row_is_evaluated_without_a_note(folder, capsys):
    lines = (folder / "a.csv").read_text().splitlines()
    one = [lines[0], next(line for line in lines if line.endswith("cat"))]
    (folder / "one.csv").write_text("\n".join(one) + "\n")
    capsys.readouterr()
    assert run("evaluate", folder / "m.gkm", folder / "one.csv") == 0
    assert capsys.readouterr().err == ""
