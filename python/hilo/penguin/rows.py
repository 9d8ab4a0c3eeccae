"""Imports every family, which fills the registry."""

import importlib

FAMILIES = (
    "elementwise",
    "convert",
    "movement",
    "indexing",
    "contraction",
    "convolution",
    "reduction",
    "scatter",
    "sorting",
    "random_bits",
    "normalization",
    "resize",
    "microscaling",
    "collectives",
    "custom",
)


def load_all():
    """Fills `registry.ROWS`; doing it again changes nothing."""
    for name in FAMILIES:
        importlib.import_module(f"{__package__}.{name}")
