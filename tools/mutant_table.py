"""The mutants of `mutants.py`: a sign, a bound, a weight or a step aside in each."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A text that stands once in `file`, what replaces it, and the tests that must fail then."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_native(self) -> bool:
        """Whether it is an expression of compiled code."""
        return self.file.startswith("native/")


def _of(file: str, tests: str, *pairs: tuple[str, str]) -> list[Mutant]:
    return [Mutant(file, old, new, tuple(tests.split())) for old, new in pairs]


MUTANTS = [
    # ------------------------------------------------------------ formulas
    *_of(
        "src/graphkm/losses.py",
        "test_losses.py",
        ("np.where(y * f <= 1, -y, 0.0)", "np.where(y * f < 1, -y, 0.0)"),
        ("(np.maximum(m, 0) - c / 2)", "(np.maximum(m, 0) - c)"),
        ("np.abs(y - f) > self.epsilon, np.sign", "np.abs(y - f) >= self.epsilon, np.sign"),
    ),
    *_of(
        "src/graphkm/losses.py",
        "test_newton.py",
        ("((r >= 0) & (r <= self.tau)) / self.tau", "((r >= 0) & (r <= self.tau)) * self.tau"),
    ),
    *_of(
        "src/graphkm/smoothness.py",
        "test_smoothness.py test_newton.py",
        ("** (self.p / (self.p - 1))", "** (self.p - 1)"),
        ("((self.p - 1) * t**2 + self.width**2)", "((self.p - 1) * t**2 - self.width**2)"),
    ),
    *_of(
        "src/graphkm/kernels.py",
        "test_kernels.py",
        ("centre = Y.sum(axis=0) / max(1, len(Y))", "centre = 0 * Y.sum(axis=0)"),
        ("return (_squared_norms(X) > 0).astype", "return (_squared_norms(X) >= 0).astype"),
    ),
    *_of(
        "src/graphkm/_util/spread.py",
        "test_laplacian.py",
        ("squares - n * float(mean @ mean)", "squares - float(mean @ mean)"),
    ),
    *_of(
        "src/graphkm/_util/spread.py",
        "test_outliers.py",
        ("place = n - 1 - n // _ONE_OF", "place = n - 1"),
        ("squares > limit if limit > 0 else", "squares > limit if limit >= 0 else"),
    ),
    *_of(
        "src/graphkm/objective.py",
        "test_objective.py",
        ("self.C_graph * (self.n_labeled / parts)", "self.C_graph / parts"),
    ),
    # ------------------------------------------------------------ graphs
    *_of(
        "src/graphkm/graphs/full.py",
        "test_graphs.py",
        ("mixed = index < n_mixed", "mixed = index <= n_mixed"),
    ),
    *_of(
        "src/graphkm/graphs/neighbors.py",
        "test_graphs.py test_neighbor_search.py",
        ("(d / s[u]) * (d / s[v])", "(d / s[u]) * (d / s[u])"),
    ),
    *_of(
        "src/graphkm/neighbours/recall.py",
        "test_neighbor_search.py",
        ("(true >= below).sum(axis=1)", "true.shape[1]"),
    ),
    *_of(
        "src/graphkm/neighbours/candidates.py",
        "test_neighbour_index.py",
        ("np.lexsort((found, d2), axis=-1)", "np.lexsort((d2, found), axis=-1)"),
        ("k if own is None else k + 1", "k"),
    ),
    *_of(
        "src/graphkm/neighbours/index.py",
        "test_neighbour_index.py",
        ("self._calibrations.get(k)", "next(iter(self._calibrations.values()), None)"),
    ),
    *_of(
        "src/graphkm/neighbours/sparse.py",
        "test_neighbour_index.py",
        ("norms.max(initial=0.0) <= _WHOLE", "norms.max(initial=0.0) <= 2**60"),
        ("self._whole and _is_whole(queries)", "self._whole"),
    ),
    *_of(
        "src/graphkm/graphs/part_kinds.py",
        "test_plan.py",
        ("self.stream_kind is None", "not self.listed"),
    ),
    *_of(
        "src/graphkm/graphs/parts.py",
        "test_plan.py",
        ('self.weights == "auto" and local', "local"),
        ("default_neighbors(sizes.n_rows) if sizes.n_rows else NEIGHBORS", "NEIGHBORS"),
    ),
    *_of(
        "src/graphkm/graphs/listed.py",
        "test_graphs.py",
        ('level, side="right")', 'level, side="left")'),
    ),
    *_of(
        "src/graphkm/graphs/implicit.py",
        "test_graphs.py",
        ("(sums <= level[:, None])", "(sums < level[:, None])"),
    ),
    *_of(
        "src/graphkm/graphs/affinity.py",
        "test_graphs.py",
        ("weights.maximum(weights.T), k=1", "weights, k=1"),
    ),
    *_of(
        "src/graphkm/graphs/laplacian.py",
        "test_laplacian.py test_objective.py test_newton.py",
        ("np.sqrt(degree), out=scale", "degree, out=scale"),
    ),
    *_of(
        "src/graphkm/graphs/laplacian.py",
        "test_row_newton.py",
        ("across, np.ones(len(alone))", "across, np.zeros(len(alone))"),
    ),
    # ------------------------------------------------------------ solvers
    *_of(
        "src/graphkm/solvers/sgd.py",
        "test_sgd.py",
        ("(T * (T + 1.0)) * self._objectives", "(T * T) * self._objectives"),
    ),
    *_of(
        "src/graphkm/solvers/descent.py",
        "test_sgd.py test_partial_fit.py",
        ("self.harmonic - 1.0 / T  # H_{T-1}", "self.harmonic"),
        ("self.t, self.harmonic = past, shorter", "self.t = past"),
    ),
    *_of(
        "src/graphkm/solvers/damped_newton.py",
        "test_newton.py",
        ("self.gap = steep + open_gap", "self.gap = steep"),
    ),
    *_of(
        "src/graphkm/solvers/terms.py",
        "test_newton.py",
        ("left - 0.5 * width *", "left - width *"),
    ),
    *_of(
        "src/graphkm/solvers/terms.py",
        "test_newton.py",
        ("g -= np.bincount(v, pull * scale[v], n)", "g -= np.bincount(v, pull * scale[u], n)"),
    ),
    *_of(
        "src/graphkm/solvers/graph_kernel.py",
        "test_newton.py",
        ("gram + (2 * factor) * form", "gram + factor * form"),
    ),
    *_of(
        "src/graphkm/fields/system.py",
        "test_row_newton.py",
        ("worst = max(worst, residual)", "worst = residual"),
    ),
    *_of(
        "src/graphkm/backends/host.py",
        "test_backends.py",
        ("found[self._order] = table", "found = table[self._order]"),
    ),
    *_of(
        "src/graphkm/solvers/row_newton.py",
        "test_row_newton.py",
        ("2.0 * float(objective.graph_factor[0])", "float(objective.graph_factor[0])"),
        ("eps * float(J.sum())", "float(J.sum())"),
    ),
    *_of(
        "src/graphkm/baselines/smo.py",
        "test_smo.py",
        ("terms.kink * unit, terms.lower * unit", "terms.kink, terms.lower * unit"),
    ),
    *_of(
        "src/graphkm/solvers/budget.py",
        "test_budget.py",
        ("(W.kernel.diagonal(rows) + W.offset)", "1.0"),
    ),
    *_of(
        "src/graphkm/streams/reservoir.py",
        "test_partial_fit.py",
        ("accepted = limit / number", "accepted = limit / (number + 1)"),
        ('key, side="right") - 1', 'key, side="left") - 1'),
    ),
    *_of(
        "src/graphkm/streams/schedule.py",
        "test_partial_fit.py",
        ("np.floor(self._plan * rows)", "np.ceil(self._plan * rows)"),
    ),
    *_of(
        "src/graphkm/streams/edges.py",
        "test_partial_fit.py",
        ("(slot + 1 + pick(draws[:, 0], count - 1))", "(slot + pick(draws[:, 0], count - 1))"),
    ),
    *_of(
        "src/graphkm/streams/sgd.py",
        "test_partial_fit.py",
        ("u, v, mu * counted", "u, v, mu"),
    ),
    # ------------------------------------------------------------ labels, choices, files
    *_of(
        "src/graphkm/estimators/labels.py",
        "test_labels.py test_bad_input.py",
        ('type(value).__name__ == "NAType" or ', ""),
    ),
    *_of(
        "src/graphkm/estimators/targets.py",
        "test_regressor.py",
        ("found[labeled] = known", "found[labeled] = found[labeled]"),
    ),
    *_of(
        "src/graphkm/estimators/nested_parameters.py",
        "test_parts.py",
        ("for name, value in before.items():", "for name, value in ():"),
        (
            "changes.setdefault(name, {})[field] = params[key]",
            "changes[name] = {field: params[key]}",
        ),
    ),
    *_of(
        "src/graphkm/gkm/plan.py",
        "test_plan.py",
        ("n_labeled > (_FEW if n == m else m // 2)", "n_labeled >= (_FEW if n == m else m // 2)"),
        ("(squares and graph.listed) and n > _SMALL", "(squares and graph.listed) and n >= _SMALL"),
        ("n * n_labeled <= LARGEST", "n <= LARGEST"),
        ("smoothness.normalized is not False", "True"),
        ("min(1.0, n / _MANY) ** 2", "min(1.0, n / _MANY)"),
        ("unused = not streaming and", "unused = streaming and"),
    ),
    *_of(
        "src/graphkm/gkm/candidates.py",
        "test_search_cv.py",
        ("return np.asarray(_CS) / scale", "return np.asarray(_CS)"),
    ),
    *_of(
        "src/graphkm/gkm/criterion.py",
        "test_search_cv.py",
        ("np.column_stack([-held, held])", "np.column_stack([0 * held, held])"),
        ("weights = weights / weights.mean()", "weights = np.ones(len(judged))"),
        ('return float(f"{loss:.10g}")', "return loss"),
    ),
    *_of(
        "src/graphkm/ridge/left_out.py",
        "test_search_cv.py test_copies.py",
        ("- h * targets) / (1.0 - h)", "- h * targets) / (1.0 + h)"),
        ("/ _ALL_OF_IT - block", "/ _ALL_OF_IT + block"),
    ),
    *_of(
        "src/graphkm/exchange/container.py",
        "test_model_files.py test_checkpoint.py",
        ("if first != len(content):", "if first > len(content):"),
        ("0 <= length < 2**48", "-1 <= length < 2**48"),
        ("(flat.view(np.uint8) > 1)", "(flat.view(np.uint8) > 2)"),
    ),
    *_of(
        "src/graphkm/io/libsvm.py",
        "test_libsvm_reader.py",
        ("n_features - (zero_based is True)", "n_features"),
        ("max(drop, default=-1) + zero_based", "max(drop, default=-1)"),
    ),
    *_of(
        "src/graphkm/io/text.py",
        "test_libsvm_reader.py test_csv_reader.py",
        ("line += n_lines", "line += 1"),
    ),
    *_of(
        "src/graphkm/io/encodings.py",
        "test_encodings.py",
        (
            "2 * n_broken < len(_LETTERS.findall(text))",
            "0 * n_broken < len(_LETTERS.findall(text))",
        ),
        ("n_before + k + 1", "n_before + k"),
    ),
    *_of(
        "src/graphkm/io/records.py",
        "test_encodings.py",
        ("len(shapes.field.findall(row[0])) == width", "True"),
        ("done = start = row.end()", "done, start = row.end(), row.end() + 1"),
    ),
    *_of(
        "src/graphkm/online/chunks.py",
        "test_streams.py",
        ("n_waiting - n_waiting % chunk_size", "chunk_size"),
    ),
    # ------------------------------------------------------------ compiled code
    *_of(
        "native/losses.hpp",
        "test_implicit_step.py",
        ("closing(1.0 - y * f, k + tau / c, c)", "closing(1.0 - y * f, k + tau, c)"),
        ("2.0 * c * t / (1.0 + 2.0 * c * k)", "2.0 * c * t / (1.0 + c * k)"),
        ("closing(std::fabs(y - f) - epsilon, k, c)", "closing(std::fabs(y - f), k, c)"),
    ),
    *_of(
        "native/losses.hpp",
        "test_native.py",
        ("y * f <= 1.0 ? -y : 0.0", "y * f < 1.0 ? -y : 0.0"),
    ),
    *_of(
        "native/block.hpp",
        "test_sgd.py",
        (
            "delta * (2.0 * s.score[point] + delta * double(row[point]))",
            "delta * (s.score[point] + delta * double(row[point]))",
        ),
        ("move(v, -at_edge, harmonic)", "move(v, -at_edge, 0.0)"),
    ),
    *_of(
        "native/tiles.inl",
        "test_expansion.py",
        ("std::min(slice, d - k)", "std::min(slice, d - k - (k > 0))"),
        ("std::min(first + 8 * run, c.n_rows)", "std::min(first + 8 * run - 1, c.n_rows)"),
        ("k < degree", "k < degree - 1"),
        (
            "O::add(acc, O::sub(O::abs(x), O::abs(O::sub(x, O::set1(*r)))))",
            "O::sub(acc, O::sub(O::abs(x), O::abs(O::sub(x, O::set1(*r)))))",
        ),
    ),
    *_of(
        "native/tiles.inl",
        "test_native.py",
        ("a.value == b.value && a.row < b.row", "a.value == b.value && a.row > b.row"),
    ),
    *_of(
        "native/kernel_spec.hpp",
        "test_expansion.py test_outliers.py",
        ("(query + centre) * epsilon > 1e-3", "(query + centre) * epsilon > 1e3"),
    ),
    *_of(
        "native/sparse_centres.hpp",
        "test_expansion.py",
        ("spec_.code == KernelCode::laplacian ? -absolute : form.stat", "form.stat"),
    ),
    *_of(
        "native/smo.hpp",
        "test_smo.py test_transductive_svc.py",
        ("bends ? terms_.kink[i] : terms_.upper[i]", "terms_.upper[i]"),
        ("bends ? terms_.kink[i] : terms_.lower[i]", "terms_.lower[i]"),
        (
            "change[k] * mean_[std::size_t(centres[k])]",
            "-change[k] * mean_[std::size_t(centres[k])]",
        ),
    ),
    *_of(
        "native/budget.hpp",
        "test_budget.py",
        (
            "share[a] * leaving[i * p.n_columns + c]",
            "share[a] * leaving[i * p.n_columns]",
        ),
        ("none_a == none_b ? a < b : none_b", "none_a == none_b ? a > b : none_b"),
        ("K[j * k + j] > tolerance * whole", "K[j * k + j] > 0.5 * whole"),
    ),
    *_of(
        "native/columns.hpp",
        "test_columns.py",
        ("diagonal[i] * x + scale * total[w]", "diagonal[i] * x + total[w]"),
        ("scaled[w][k] += weight * square", "scaled[w][k] += square"),
        ("std::min(begin + rows, pass.n)", "std::min(begin + rows - 1, pass.n)"),
    ),
    *_of(
        "native/csv.hpp",
        "test_csv_reader.py",
        ("*p == '\"' && p[1] == '\"'", "*p == '\"' && p[1] == '\"' && false"),
        ("!field.ok && *p == '\\n'", "!field.ok"),
        (
            "(column + 1 < n_columns) != (*p == delimiter)",
            "(column + 1 < n_columns) > (*p == delimiter)",
        ),
        ("size == 1 && *q == '?'", "size == 2 && *q == '?'"),
    ),
    *_of(
        "native/libsvm.hpp",
        "test_libsvm_reader.py",
        ("index <= previous", "index < previous"),
        ("dropped[n_below] < index", "dropped[n_below] <= index"),
        ("index - first - std::int64_t(n_below)", "index - first"),
    ),
    *_of(
        "native/text_numbers.hpp",
        "test_libsvm_reader.py test_csv_reader.py",
        ("n_digits <= 19", "n_digits <= 20"),
        ("mantissa <= (std::uint64_t(1) << 53)", "mantissa <= (std::uint64_t(1) << 62)"),
    ),
]
