"""Images as vectors: files of every kind, pixels, gradients and networks."""

from __future__ import annotations

import math
import pickle
import re
import struct
import sys
import types
import zlib

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.base import clone

import tiny_models
from graphkm.embed import ImageEmbedder, PictureError, broken_pictures
from graphkm.embed.encoder import MissingModelError
from graphkm.embed.pictures import MOST_PIXELS, as_pictures, read_picture
from graphkm.embed.pixels import gradient_histograms


@pytest.fixture
def photo():
    """Return an image that no turn or mirror leaves as it is."""
    down, across = np.mgrid[:30, :40]
    return Image.fromarray(np.stack([6 * across, 8 * down, 0 * down + 9], -1).astype(np.uint8))


def pixels(*items, **options):
    return ImageEmbedder("pixels", cache=None, **options).fit_transform(list(items))


# ------------------------------------------------------------------ pixels


def test_pixels_are_grey_values_of_the_scaled_image(tmp_path, photo):
    photo.save(tmp_path / "a.png")
    grey = np.asarray(photo.convert("L").resize((28, 28)), dtype=np.float32)
    np.testing.assert_array_equal(pixels(tmp_path / "a.png")[0], grey.ravel() / np.float32(255))


def test_a_name_that_no_file_can_have_is_a_broken_picture():
    names = ["x" * 100_000, "a\0b.png"]
    found = broken_pictures(names)
    assert list(found) == [0, 1]
    assert len(found[0]) < 600 and "cannot be read as a picture" in found[0]


def test_small_grey_images_stay_as_they_are():
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28)).astype(np.uint8)
    rows = ImageEmbedder("pixels", cache=None).fit_transform(images)
    np.testing.assert_allclose(rows, images.reshape(5, -1) / 255, atol=1e-7)


def test_paths_images_and_arrays_are_the_same(tmp_path, photo):
    photo.save(tmp_path / "a.png")
    path = tmp_path / "a.png"
    values = np.asarray(photo)
    for each in (str(path), path, photo, values, values / 255.0, values.astype(np.uint16) << 8):
        np.testing.assert_array_equal(pixels(each), pixels(path))
    for X in (values[None], pd.Series([str(path)]), pd.DataFrame({"file": [path]}), [photo]):
        rows = ImageEmbedder("pixels", cache=None).fit_transform(X)
        np.testing.assert_array_equal(rows, pixels(path))


@pytest.mark.parametrize("size", [8, 28, 32])
def test_sizes(photo, size):
    shape = ImageEmbedder(size=size, cache=None).fit_transform([photo]).shape
    assert shape == (1, size**2 + 324)


@pytest.mark.parametrize("size", [4, 30, 28.0])
def test_sizes_are_checked(photo, size):
    with pytest.raises(ValueError, match="size must be a"):
        ImageEmbedder(size=size).fit([photo])


# ------------------------------------------------------------------ gradients


def literal_histograms(grey):
    """Compute histograms of oriented gradients of one image, pixel by pixel."""
    size = len(grey)
    cells = np.zeros((size // 4, size // 4, 9))
    for r in range(size):
        for c in range(size):
            dx = grey[r, c + 1] - grey[r, c - 1] if 0 < c < size - 1 else 0.0
            dy = grey[r + 1, c] - grey[r - 1, c] if 0 < r < size - 1 else 0.0
            place = (math.degrees(math.atan2(dy, dx)) % 180) / 20
            low, share = int(place) % 9, place - int(place)
            cells[r // 4, c // 4, low] += math.hypot(dx, dy) * (1 - share)
            cells[r // 4, c // 4, (low + 1) % 9] += math.hypot(dx, dy) * share
    row = []
    for r in range(size // 4 - 1):
        for c in range(size // 4 - 1):
            block = np.concatenate([cells[r + a, c + b] for a in (0, 1) for b in (0, 1)])
            for most in (0.2, np.inf):
                block = np.minimum(block / math.sqrt(sum(block**2) + 0.1**2), most)
            row.extend(block)
    return np.array(row)


def test_gradients_are_those_of_a_loop():
    grey = np.random.default_rng(1).random((3, 16, 16)).astype(np.float32)
    expected = [literal_histograms(each.astype(float)) for each in grey]
    np.testing.assert_allclose(gradient_histograms(grey), expected, atol=1e-5)


def test_gradients_do_not_see_light_or_which_side_is_bright():
    grey = np.random.default_rng(2).random((4, 28, 28)).astype(np.float32)
    first = gradient_histograms(grey)
    np.testing.assert_allclose(gradient_histograms(grey + 0.3), first, atol=1e-4)
    np.testing.assert_allclose(gradient_histograms(1 - grey), first, atol=1e-4)
    np.testing.assert_allclose(gradient_histograms(grey * 0.8), first, atol=2e-3)


def test_flat_images_have_no_gradients():
    rows = ImageEmbedder("gradients", cache=None).fit_transform(np.full((2, 40, 40), 0.4))
    assert rows.shape == (2, 324) and not rows.any()


def test_a_mirrored_image_has_mirrored_gradients():
    grey = np.random.default_rng(3).random((1, 28, 28)).astype(np.float32)
    blocks = gradient_histograms(grey).reshape(3, 3, 2, 2, 9)
    mirrored = gradient_histograms(grey[:, :, ::-1]).reshape(3, 3, 2, 2, 9)
    turned = blocks[:, ::-1, :, ::-1][..., -np.arange(9) % 9]
    np.testing.assert_allclose(mirrored, turned, atol=1e-5)


def test_auto_is_both_in_comparable_units():
    images = np.random.default_rng(4).random((5, 28, 28))
    rows = {
        name: ImageEmbedder(name, cache=None).fit_transform(images)
        for name in ("auto", "pixels", "gradients")
    }
    np.testing.assert_allclose(rows["auto"][:, :784], rows["pixels"] / 28, atol=1e-6)
    np.testing.assert_allclose(rows["auto"][:, 784:], rows["gradients"] / 3, atol=1e-6)
    for part in (rows["auto"][:, :784], rows["auto"][:, 784:]):
        lengths = np.linalg.norm(part, axis=1)
        assert (lengths <= 1 + 1e-6).all() and (lengths > 0.3).all()


# ------------------------------------------------------------------ files


@pytest.mark.parametrize("tag", range(1, 9))
def test_images_are_turned_upright(tmp_path, photo, tag):
    turns = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.swapaxes(0, 1),
        6: lambda a: np.rot90(a),
        7: lambda a: np.rot90(a, 2).swapaxes(0, 1),
        8: lambda a: np.rot90(a, 3),
    }
    stored = Image.fromarray(np.ascontiguousarray(turns[tag](np.asarray(photo))))
    exif = Image.Exif()
    exif[0x0112] = tag
    for name in ("a.png", "a.tif"):
        stored.save(tmp_path / name, exif=exif)
        np.testing.assert_array_equal(np.asarray(read_picture(tmp_path / name)), photo)


def test_palettes_and_transparent_parts(tmp_path):
    clear = Image.new("RGBA", (10, 10), (255, 0, 0, 0))
    clear.paste((0, 0, 0, 255), (0, 0, 5, 10))
    clear.save(tmp_path / "a.png")
    clear.convert("LA").save(tmp_path / "b.png")
    palette = Image.new("P", (10, 10), 1)
    palette.putpalette([0, 0, 0, 255, 0, 0])
    palette.paste(0, (0, 0, 5, 10))
    palette.save(tmp_path / "c.png", transparency=1)
    palette.save(tmp_path / "d.gif", transparency=1)
    for name in ("a.png", "b.png", "c.png", "d.gif"):
        values = np.asarray(read_picture(tmp_path / name).convert("L"))
        assert (values[:, :5] == 0).all() and (values[:, 5:] == 255).all(), name
    palette.save(tmp_path / "e.png")
    assert np.asarray(read_picture(tmp_path / "e.png"))[0, 9].tolist() == [255, 0, 0]


def test_cmyk(tmp_path):
    Image.new("CMYK", (20, 20), (0, 255, 255, 0)).save(tmp_path / "a.jpg")
    red = np.asarray(read_picture(tmp_path / "a.jpg"))[10, 10]
    assert red[0] > 240 and red[1] < 20 and red[2] < 20


@pytest.mark.parametrize("ending", ["gif", "webp", "png", "tif"])
def test_the_first_frame_counts(tmp_path, ending):
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("white", "black", "red")]
    frames[0].save(tmp_path / f"a.{ending}", save_all=True, append_images=frames[1:])
    assert np.asarray(read_picture(tmp_path / f"a.{ending}").convert("L")).min() > 250


def test_sixteen_bits_and_real_numbers(tmp_path):
    ramp = np.linspace(0, 65535, 400).reshape(20, 20)
    Image.fromarray(ramp.astype(np.uint16)).save(tmp_path / "a.png")
    Image.fromarray((ramp / 65535).astype(np.float32)).save(tmp_path / "b.tif")
    Image.fromarray((ramp / 257).astype(np.float32)).save(tmp_path / "c.tif")
    for name in ("a.png", "b.tif", "c.tif"):
        values = np.asarray(read_picture(tmp_path / name)).astype(float)
        assert abs(values - ramp / 257).max() <= 1, name


def test_one_bit_and_one_pixel(tmp_path):
    Image.new("1", (1, 1), 1).save(tmp_path / "a.png")
    assert (pixels(tmp_path / "a.png") == 1).all()


@pytest.mark.dear
@pytest.mark.parametrize("ending", ["png", "jpg"])
def test_fifty_megapixels(tmp_path, ending):
    large = Image.new("L", (10_000, 5_000), 255)
    large.paste(0, (0, 0, 5_000, 5_000))
    large.save(tmp_path / f"a.{ending}")
    picture = read_picture(tmp_path / f"a.{ending}")
    assert max(picture.size) < 3_000
    row = pixels(tmp_path / f"a.{ending}").reshape(28, 28)
    assert row[:, :12].max() < 0.05 and row[:, 16:].min() > 0.95


def bomb(path, side):
    """Write the head of a PNG file that claims to be large."""
    head = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + b"\0" * 4)


@pytest.mark.parametrize("side", [10_001, 12_000, 60_000])
def test_huge_images_are_refused_before_they_are_decoded(tmp_path, side):
    assert side**2 > MOST_PIXELS
    bomb(tmp_path / "a.png", side)
    with pytest.raises(PictureError, match=r"a\.png .*more than 100 megapixels"):
        pixels(tmp_path / "a.png")


def test_broken_files_are_named(tmp_path, photo):
    photo.save(tmp_path / "good.jpg")
    whole = (tmp_path / "good.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "words.png").write_text("no picture")
    (tmp_path / "folder.png").mkdir()
    names = ["cut.jpg", "empty.png", "words.png", "folder.png", "none.png"]
    reasons = ["truncated", "the file is empty", "no known format", "directory", "no such file"]
    for cache in (None, tmp_path / "cache"):
        embedder = ImageEmbedder(cache=cache).fit([photo])
        for name, reason in zip(names, reasons, strict=True):
            with pytest.raises(
                PictureError, match=f"(?i){name} cannot be read .*{reason}.*leave it out"
            ):
                embedder.transform([tmp_path / "good.jpg", tmp_path / name])
    found = broken_pictures([tmp_path / name for name in ["good.jpg", *names]])
    assert list(found) == [1, 2, 3, 4, 5] and "the file is empty" in found[2]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ("a.png", "Give a list of paths or images, not str"),
        (3, "Give a list of paths or images, not int"),
        ([None], "Row 0 is no image but NoneType"),
        (np.zeros((3, 784)), "Reshape its rows"),
        (np.zeros((2, 3, 40, 40)), "Move the channels to the end"),
        ([np.zeros((0, 5))], r"Image 0 has the shape \(0, 5\)"),
        ([np.full((5, 5), 255.0)], r"values from 255\.0 to 255\.0"),
        ([np.full((5, 5), np.nan)], "have to lie between 0 and 1"),
        ([np.full((5, 5), -1)], "have to lie between 0 and 255"),
    ],
)
def test_what_is_no_image_is_named(X, words):
    with pytest.raises((TypeError, ValueError), match=words):
        as_pictures(X)


def test_no_images(photo):
    embedder = ImageEmbedder(cache=None).fit([photo])
    assert embedder.transform([]).shape == (0, 1108)
    with pytest.raises(ValueError, match="at least one image"):
        ImageEmbedder(lambda some: np.ones((len(some), 2))).fit([])


def test_without_pillow(monkeypatch):
    for name in ("PIL", "PIL.Image"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=re.escape('pip install "graphkm[image]"')):
        ImageEmbedder().fit(["a.png"])


def test_copies_and_names(photo):
    embedder = ImageEmbedder(cache=None).fit([photo])
    again = pickle.loads(pickle.dumps(embedder))
    np.testing.assert_array_equal(again.transform([photo]), embedder.transform([photo]))
    names = embedder.get_feature_names_out()
    assert len(names) == len(set(names)) == 1108
    assert names[0] == "pixel_1" and names[784] == "gradient_1"
    assert clone(embedder).set_params(model="pixels").fit([photo]).hash_ != embedder.hash_


# ------------------------------------------------------------------ networks


def in_imagenet_units(picture):
    values = np.asarray(picture, float) / 255
    return (values - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]


def test_onnx_takes_the_centre_in_imagenet_units(tmp_path, photo):
    tiny_models.image_model(tmp_path / "net.onnx", shape=("b", 3, 30, 30))
    embedder = ImageEmbedder(tmp_path / "net.onnx", cache=None).fit([photo])
    expected = in_imagenet_units(photo.crop((5, 0, 35, 30))).mean(axis=(0, 1))
    np.testing.assert_allclose(embedder.transform([photo, photo]), [expected] * 2, atol=1e-5)
    assert embedder.get_feature_names_out().tolist() == ["vector_1", "vector_2", "vector_3"]


@pytest.mark.parametrize("shape", [("b", 3, "h", "w"), (1, 3, 8, 12)])
def test_onnx_of_other_shapes(tmp_path, photo, shape):
    tiny_models.image_model(tmp_path / "net.onnx", shape=shape, spatial=False)
    rows = ImageEmbedder(f"onnx:{tmp_path / 'net.onnx'}", cache=None).fit_transform([photo] * 3)
    assert rows.shape == (3, 3) and (rows == rows[0]).all()


def test_onnx_files_that_do_not_fit(tmp_path, photo):
    tiny_models.image_model(tmp_path / "net.onnx", shape=("b", 8, 8, 3))
    with pytest.raises(MissingModelError, match="export it with the channels first"):
        ImageEmbedder(tmp_path / "net.onnx", cache=None).fit([photo])
    with pytest.raises(MissingModelError, match="There is no file"):
        ImageEmbedder(tmp_path / "none.onnx").fit([photo])
    with pytest.raises(MissingModelError, match="timm:NAME"):
        ImageEmbedder("resnet18").fit([photo])


def test_a_function_as_a_model(photo):
    embedder = ImageEmbedder(lambda some: [[each.width, each.height] for each in some])
    assert embedder.fit_transform([photo, np.zeros((5, 6))]).tolist() == [[40, 30], [6, 5]]


class Tensor:
    """Stands in for a tensor of PyTorch."""

    def __init__(self, values):
        self.values = np.asarray(values)

    detach = cpu = float = lambda self: self

    def numpy(self):
        return self.values


class Network:
    """Stands in for a network; it returns the mean colour unless its head is still there."""

    fc = "head"

    def eval(self):
        return self

    def state_dict(self):
        return {"weight": Tensor([1.0, 2.0])}

    def __call__(self, batch):
        assert self.fc != "head"
        return Tensor(batch.values.mean(axis=(1, 2)))


@pytest.fixture
def networks(monkeypatch):
    """Bring stand-ins for torch, timm and torchvision."""
    import contextlib

    def tensor(picture):
        return Tensor(np.asarray(picture, float))

    def create(name, pretrained, num_classes):
        if name == "nowhere":
            raise RuntimeError("Unknown model (nowhere)")
        assert pretrained and num_classes == 0
        network = Network()
        network.fc = None
        return network

    weights = types.SimpleNamespace(DEFAULT=types.SimpleNamespace(transforms=lambda: tensor))
    modules = {
        "torch": {
            "no_grad": contextlib.nullcontext,
            "stack": lambda some: Tensor(np.stack([each.values for each in some])),
            "nn": types.SimpleNamespace(Identity=object),
        },
        "timm": {
            "create_model": create,
            "data": types.SimpleNamespace(
                resolve_model_data_config=lambda network: {"size": 3},
                create_transform=lambda size, is_training: tensor,
            ),
        },
        "torchvision": {
            "models": types.SimpleNamespace(
                get_model_weights=lambda name: {"some": weights}[name],
                get_model=lambda name, weights: Network(),
            )
        },
    }
    for name, parts in modules.items():
        module = types.ModuleType(name)
        vars(module).update(parts)
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("library", ["timm", "torchvision"])
def test_networks_by_name(networks, monkeypatch, photo, library):
    embedder = ImageEmbedder(f"{library}:some", cache=None).fit([photo])
    np.testing.assert_allclose(
        embedder.transform([photo])[0], np.asarray(photo, float).mean(axis=(0, 1)), rtol=1e-6
    )
    assert embedder.model_ == f"{library}:some" and embedder.n_features_out_ == 3
    assert len(embedder.hash_) == 64
    with pytest.raises(MissingModelError, match=f"{library} cannot load the model nowhere"):
        ImageEmbedder(f"{library}:nowhere").fit([photo])
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=f"needs {library}: run pip install {library}"):
        ImageEmbedder(f"{library}:some").fit([photo])
