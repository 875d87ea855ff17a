# `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard native/*) $(wildcard native/simd/*)

# The tests of compiled code: under the sanitizers, and on every instruction set.
NATIVE_TESTS := $(addprefix tests/test_,native.py expansion.py implicit_step.py smo.py columns.py \
	budget.py partial_fit.py libsvm_reader.py csv_reader.py custom_loss.py transductive_svc.py cells.py \
	neighbour_index.py)

# Tests start many processes: each of them would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

# One test process per core, up to eight. Compiled code keeps to one thread in each: threads that
# wait for a core make a test many times slower.
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest \
	-n auto --maxprocesses 8 --dist loadgroup

# The environment of `make test-oldest`, and what it runs: fits, files, streams and the command.
OLDEST := .venv-oldest
OLDEST_TESTS := $(addprefix tests/test_,smoke.py native.py semi.py semi_inputs.py judge.py members.py \
	graphs.py classifier.py regressor.py newton.py sgd.py partial_fit.py model_files.py semi_files.py \
	targets.py active.py sets.py affinity.py skops.py cli.py cli_tables.py embed_text.py dask.py)

# Where `make reproduce` keeps its results, and what `make report` reports on.
RESULTS ?= out/quick

# The Python of `make test-cuda`: one with CuPy, and this package installed.
CUDA_PYTHON ?= $(BIN)/python

.PHONY: demo test test-long test-slow test-cuda test-isa test-oldest mutants lint bench accuracy \
	tables reproduce report docs sanitize release-check clean

demo: $(VENV)/demo.stamp
	$(BIN)/python examples/two_moons.py

test: lint
	$(PYTEST) -m "not slow and not long"

# Tests that take seconds each: they start and kill processes, or fit many models.
test-long: $(VENV)/test.stamp
	$(PYTEST) -m "long and not slow"

test-slow: $(VENV)/test.stamp
	$(PYTEST) -m slow

# What needs an NVIDIA card, and what it brings.
test-cuda:
	$(CUDA_PYTHON) -m pytest -q -m cuda tests
	$(CUDA_PYTHON) benchmarks/gpu.py

# Small defects, planted one at a time in a copy: each must make a test fail.
mutants: $(VENV)/test.stamp
	$(BIN)/python -m pip install --quiet nanobind
	$(BIN)/python tools/mutants.py

# The compiled code on every instruction set that this processor has.
test-isa: $(VENV)/test.stamp
	@for isa in $$($(BIN)/python -c "from graphkm import _native; \
			print(*_native.instruction_sets())"); do \
		echo "== $$isa"; \
		GRAPHKM_ISA=$$isa $(PYTEST) -m "not slow" $(NATIVE_TESTS) || exit 1; \
	done

# A part of the tests with the oldest versions that pyproject.toml allows, in $(OLDEST).
test-oldest: $(OLDEST)/test.stamp
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(OLDEST)/bin/python -m pytest -W default \
		-m "not slow and not long" $(OLDEST_TESTS)

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/demo.stamp
	$(BIN)/python benchmarks/run_all.py $(ARGS)

# Accuracy on a fixed list of cells, against benchmarks/results/accuracy.csv. ARGS=--short is the
# form of .ci/run, ARGS=--update writes the file.
accuracy: $(VENV)/test.stamp
	$(BIN)/python benchmarks/accuracy.py $(ARGS)

# The tables of the pages, from benchmarks/results and reproduction/results.
tables: $(VENV)/test.stamp
	$(BIN)/python benchmarks/page_tables.py
	$(BIN)/python -m reproduction report reproduction/results --page docs/reproduction.md

# The paper's experiments in their quick form. Run it again to continue where it stopped;
# `python -m reproduction run --help` has the other forms.
reproduce: $(VENV)/docs.stamp
	$(BIN)/python -m reproduction run all --quick --out $(RESULTS)

# Tables and plots of what was run: report.md, and the same as a page.
report: $(VENV)/docs.stamp
	$(BIN)/python -m reproduction report $(RESULTS)
	$(BIN)/sphinx-build -b html -E -W -q -C -D extensions=myst_parser -D root_doc=report \
		-D include_patterns=report.md -D project=graphkm -D html_theme=pydata_sphinx_theme \
		$(RESULTS) $(RESULTS)/html
	@echo "$(RESULTS)/html/report.html"

# Any warning is an error: a broken link, a docstring that numpydoc cannot read, a failing example.
docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -b html -E -n -W --keep-going -q docs build/docs
	@echo "build/docs/index.html"

# The compiled code under AddressSanitizer and UndefinedBehaviorSanitizer (GCC, Linux). It takes
# the place of the usual build in .venv; without the stamps, the next target builds that again.
sanitize: $(VENV)/test.stamp
	rm -f $(VENV)/*.stamp
	$(BIN)/python -m pip install --quiet --editable . \
		--config-settings=cmake.define.GRAPHKM_SANITIZE=ON --config-settings=build-dir=build/sanitize
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
		$(BIN)/python -m pytest -m "not slow" -k "not ctrl_c and not little_memory" $(NATIVE_TESTS)

# The source distribution, a wheel from it alone, and that wheel in an empty environment.
release-check: $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet build twine abi3audit
	$(BIN)/python tools/release_check.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/demo.stamp: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	touch $@

$(VENV)/docs.stamp: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@ $(VENV)/demo.stamp

$(OLDEST)/test.stamp: pyproject.toml tools/oldest.py $(SOURCES)
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python tools/oldest.py > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --constraint $(OLDEST)/oldest.txt \
		--editable ".[all]" pytest hypothesis "cvxpy>=1.8" onnxruntime pandas polars markdown-it-py
	touch $@

$(VENV)/test.stamp: $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@ $(VENV)/demo.stamp

clean:
	rm -rf $(VENV) $(OLDEST) build out dist docs/gallery docs/api/generated
