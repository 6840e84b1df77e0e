"""Puts this folder on the path, so that tests in every subfolder can import `layouts`."""
