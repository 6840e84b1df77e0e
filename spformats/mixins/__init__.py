"""What every sparse array object can do, one concern a file; composed by `spformats.formats.base.SparseArray`."""
