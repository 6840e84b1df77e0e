"""What an array shows: a line in the console, a small table and picture in a notebook."""

from __future__ import annotations

from typing import Any

#: Cells of the spy picture along its longer side.
CELLS = 32
#: A notebook converts arrays of up to this many stored entries to CSR, to count what CSR would take and draw the
#: picture.
LARGEST = 20_000_000


class Display:
    """``repr`` and ``_repr_html_`` of `SparseArray`."""

    __slots__ = ()

    def __repr__(self: Any) -> str:
        n, m = self.shape
        lazy = "" if self._source is None else f", {'adjoint' if self._source[1] == 'C' else 'transpose'} view"
        options = "".join(f", {k}={v}" for k, v in self._parameters().items() if v not in (None, False))
        where = "" if self._namespace == "numpy" else f", device={self.device!s}"
        return f"<{type(self).__name__} {n}×{m} {self.dtype}, nnz={self.nnz}{options}{lazy}{where}>"

    __str__ = __repr__

    def _repr_html_(self: Any) -> str:
        import html

        from spformats.formats._guard import readable

        n, m = self.shape
        csr = self.to_csr() if self._stored <= LARGEST else None
        csr_bytes = csr_nbytes(self, self._stored if csr is None else csr._stored)
        rows = {
            "Format": self.format,
            "Shape": f"{n} × {m}",
            "Data type": str(self.dtype),
            "Stored entries": f"{self.nnz:,}",
            "Density": f"{self.nnz / max(n * m, 1):.2e}",
            "Bytes": f"{self.nbytes:,} ({readable(self.nbytes)})",
            "Bytes / CSR": f"{self.nbytes / max(csr_bytes, 1):.2f}",
            "Device": str(self.device),
            **{k: str(v) for k, v in self._parameters().items()},
        }
        body = "".join(
            f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
            f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
            for k, v in rows.items()
        )
        return f"<div style='display:flex;gap:1em;align-items:center'><table>{body}</table>{spy_svg(csr)}</div>"


def csr_nbytes(A: Any, nnz: int) -> int:
    """Bytes CSR takes for this many entries."""
    index = 4 if A.shape[1] < 2**31 else 8
    return nnz * (A._holder.data.itemsize + index) + (A.shape[0] + 1) * 8


def spy_svg(csr: Any) -> str:
    """A small picture of where the entries lie, as SVG; darker cells hold more of them."""
    if csr is None or not all(csr.shape) or csr._namespace != "numpy":
        return ""
    import numpy as np

    from spformats.formats._arrays import rows_of

    n, m = csr.shape
    height, width = max(1, round(CELLS * n / max(n, m))), max(1, round(CELLS * m / max(n, m)))
    cell = rows_of(csr.indptr) * height // n * width + csr.indices.astype(np.int64) * width // m
    counts = np.bincount(cell, minlength=height * width).reshape(height, width)
    shade = np.sqrt(counts / max(counts.max(), 1))
    rects = "".join(
        f"<rect x='{c}' y='{r}' width='1' height='1' fill-opacity='{max(shade[r, c], 0.15):.2f}'/>"
        for r, c in np.argwhere(counts)
    )
    return (
        f"<svg width='{4 * width}' height='{4 * height}' viewBox='0 0 {width} {height}' "
        "role='img' aria-label='spy picture'>"
        f"<rect width='{width}' height='{height}' fill='none' stroke='gray' stroke-width='0.2'/>{rects}</svg>"
    )
