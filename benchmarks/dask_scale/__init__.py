"""Parts of `dask_scale.py`."""
