"""In and out: SciPy, cupyx, dense arrays, Matrix Market, npz, devices."""
