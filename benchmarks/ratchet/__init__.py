"""The accuracy ratchet: cells, estimators, the judge, planted defects; see ../accuracy.py."""
