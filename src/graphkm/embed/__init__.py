"""Texts and images as rows of numbers.

===============  ==================================================================================
texts            `TextEmbedder`: texts as vectors
words            `Words`: texts as words and pieces of words, a sparse matrix
images           `ImageEmbedder`: images as vectors
reading          lists, columns and frames of texts, checked
pictures         picture files of every kind, read within bounded memory; which files are broken
pixels           images at one scale: grey values and histograms of gradients
text_models      which model a name, a folder or a callable means, for texts
image_models     the same for images
text_libraries   sentence-transformers, model2vec and fastembed
image_libraries  timm and torchvision
word_pieces      the vectors of word pieces that come inside the package wordllama
onnx_texts       transformers in ONNX, with their tokenizers
onnx_images      networks for images in ONNX
onnx_files       graphs in ONNX: their files and sessions
encoder          what a model is here: a name, a hash and a function
embedder         what both embedders share: the cache, batches, the bar
cache            vectors on disk, by content and model
===============  ==================================================================================

A model's files are data: they are hashed, and no code that comes with them is run.
"""

from .cache import CacheWarning
from .encoder import MissingModelError
from .images import ImageEmbedder
from .pictures import PictureError, broken_pictures
from .texts import TextEmbedder
from .words import Words

__all__ = [
    "CacheWarning",
    "ImageEmbedder",
    "MissingModelError",
    "PictureError",
    "TextEmbedder",
    "Words",
    "broken_pictures",
]
