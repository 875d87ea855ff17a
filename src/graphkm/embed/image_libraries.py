"""Networks of timm and torchvision, where these are installed, without their last layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .encoder import Encoder, MissingModelError, first_line, needed, weights_digest

_HEADS = ("fc", "classifier", "heads", "head")  # torchvision's names of the last layer


def timm_model(name: str) -> Encoder:
    """Return a network of timm with its own scale and colours."""
    timm = needed("timm", f"The model timm:{name}", "timm")

    def load() -> tuple[Any, Any, str]:
        network = timm.create_model(name, pretrained=True, num_classes=0)
        config = timm.data.resolve_model_data_config(network)
        return network, timm.data.create_transform(**config, is_training=False), str(config)

    return _network("timm", name, load)


def torchvision_model(name: str) -> Encoder:
    """Return a network of torchvision with the scale and colours of its weights."""
    models = needed("torchvision", f"The model torchvision:{name}", "torchvision").models
    torch = needed("torch", f"The model torchvision:{name}", "torch")

    def load() -> tuple[Any, Any, str]:
        weights = models.get_model_weights(name).DEFAULT
        network = models.get_model(name, weights=weights)
        head = next(each for each in _HEADS if hasattr(network, each))
        setattr(network, head, torch.nn.Identity())
        return network, weights.transforms(), str(weights)

    return _network("torchvision", name, load)


LIBRARIES: dict[str, Callable[[str], Encoder]] = {
    "timm": timm_model,
    "torchvision": torchvision_model,
}


def _network(library: str, name: str, load: Callable[[], tuple[Any, Any, str]]) -> Encoder:
    torch = needed("torch", f"The model {library}:{name}", "torch")
    try:
        network, prepare, settings = load()
    except Exception as error:  # of names, of the network, of files
        raise MissingModelError(
            f"{library} cannot load the model {name} ({first_line(error)}). Check the name and the "
            "network."
        ) from error
    network.eval()

    def encode(pictures: list[Any]) -> Any:
        with torch.no_grad():
            rows = network(torch.stack([prepare(each.convert("RGB")) for each in pictures]))
        return rows.detach().cpu().float().numpy()

    told = weights_digest(f"{library}, {settings}", network.state_dict())
    return Encoder(f"{library}:{name}", told, None, encode)
