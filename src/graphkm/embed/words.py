"""`Words`: texts as words and pieces of words, weighted by how rare they are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.validation import check_is_fitted

from .._util.parameters import check_count
from .reading import as_texts, cut

_WORD = r"(?u)\b\w+\b"  # a word may be one letter long: many languages have such words
_WORDS = {"analyzer": "word", "token_pattern": _WORD, "sublinear_tf": True}
_PIECES = {"analyzer": "char_wb", "ngram_range": (3, 5), "sublinear_tf": True}


class Words(TransformerMixin, BaseEstimator):
    """Texts as words and pieces of words (TF-IDF), side by side in one sparse matrix.

    A piece has three to five characters inside a word and its edges. Pieces tell that *payment* and
    *payments* are alike, and survive typing errors. Words and pieces of a text each have length
    1/sqrt(2), so a row has length 1. A text without any known word or piece is a row of zeros.
    Only the first 20,000 characters of a text count.

    Parameters
    ----------
    max_words : int, default=20000
        The most frequent words are kept.
    max_pieces : int, default=20000
        The most frequent pieces are kept.

    Attributes
    ----------
    words_, pieces_ : ndarray of str
        The words and the pieces, in the order of the columns.
    word_idf_, piece_idf_ : ndarray of float
        How rare each is (scikit-learn's smoothed inverse document frequency).
    n_features_out_ : int
        The number of columns.

    Examples
    --------
    >>> from graphkm.embed import Words
    >>> rows = Words().fit_transform(["my card is lost", "I lost my cards", "exchange rates"])
    >>> rows.shape[0], bool(rows[0] @ rows[1].T > rows[0] @ rows[2].T)
    (3, True)
    """

    def __init__(self, max_words: int = 20_000, max_pieces: int = 20_000) -> None:
        self.max_words = max_words
        self.max_pieces = max_pieces

    def fit(self, X: Any, y: Any = None) -> Self:
        """Count words and pieces.

        Parameters
        ----------
        X : list, 1-D array, Series, or frame of one column
            The texts.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> sparse.csr_matrix:
        """Count words and pieces, and return their weights; each text is split once.

        Parameters
        ----------
        X : list, 1-D array, Series, or frame of one column
            The texts.
        y : ignored
            Not used.
        **fit_params : ignored
            Not used.

        Returns
        -------
        csr_matrix of shape (n_texts, n_columns)
        """
        check_count("max_words", self.max_words)
        check_count("max_pieces", self.max_pieces)
        texts = cut(as_texts(X))
        if not any(texts):
            raise ValueError(
                f"All {len(texts):,} texts are empty, so there are no words to learn. Check that "
                "this is the column with the texts."
            )
        self.words_, self.word_idf_, words = _counted(texts, self.max_words, _WORDS)
        self.pieces_, self.piece_idf_, pieces = _counted(texts, self.max_pieces, _PIECES)
        self.n_features_out_ = len(self.words_) + len(self.pieces_)
        return _beside(words, pieces)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Return the weights of the words and pieces of texts.

        Parameters
        ----------
        X : list, 1-D array, Series, or frame of one column
            The texts.

        Returns
        -------
        csr_matrix of shape (n_texts, n_columns)
        """
        check_is_fitted(self)
        texts = cut(as_texts(X))
        words = _weighted(texts, self.words_, self.word_idf_, _WORDS)
        pieces = _weighted(texts, self.pieces_, self.piece_idf_, _PIECES)
        return _beside(words, pieces)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the words and the pieces, the latter in quotes.

        Parameters
        ----------
        input_features : ignored
            Not used.
        """
        check_is_fitted(self)
        return np.array([*self.words_, *(f"'{piece}'" for piece in self.pieces_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags


def _counted(texts: list[str], most: int, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the kept terms in order, their idf, and their weights; none if there are none."""
    counter = TfidfVectorizer(max_features=most, **options)
    try:
        weights = counter.fit_transform(texts)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        return np.empty(0, dtype=object), np.empty(0), sparse.csr_matrix((len(texts), 0))
    return counter.get_feature_names_out(), counter.idf_, weights


def _beside(words: Any, pieces: Any) -> sparse.csr_matrix:
    return sparse.csr_matrix(sparse.hstack([words, pieces]) / np.sqrt(2.0))


def _weighted(texts: list[str], terms: Any, idf: Any, options: dict[str, Any]) -> sparse.csr_matrix:
    """Return the weights of terms; the vectorizer is made from plain arrays."""
    if not len(terms):
        return sparse.csr_matrix((len(texts), 0))
    weigher = TfidfVectorizer(vocabulary={term: k for k, term in enumerate(terms)}, **options)
    weigher.idf_ = idf
    return weigher.transform(texts)
