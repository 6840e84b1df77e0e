"""Products with dense operands and with sparse ones: check, then dispatch."""

from __future__ import annotations

from typing import Any

import numpy as np

from spformats import dispatch
from spformats.formats import BSR, DiagonalArray, SparseArray, _arrays
from spformats.formats.device import home_of, is_away
from spformats.linalg import integer_products
from spformats.linalg.diagonal_product import multiply, multiply_again


def dense_product(A: SparseArray, x: Any, trans: str = "N") -> Any:
    """``op(A) @ x`` for a dense vector or matrix; the result has x's shape and array type."""
    data = A._holder.data
    if is_away(data):
        with home_of(data):
            return _dense_product(A, x, trans)
    return _dense_product(A, x, trans)


def _dense_product(A: SparseArray, x: Any, trans: str) -> Any:
    if integer_products.is_integer(A):
        exact = hasattr(x, "dtype") and integer_products.is_integer(x)
        x = check_operand(A, x, trans, convert=not exact)
        if exact:
            return integer_products.dense_product(A, x, trans)
        A = integer_products.as_floating(A, x.dtype)
    x = check_operand(A, x, trans)
    rows = A.shape[0] if trans == "N" else A.shape[1]
    if x.ndim == 1:
        return dispatch.run("spmv", A, x, trans=trans)
    columns = x.shape[1]
    if columns == 1:  # solvers hand over (n, 1): that is a vector
        return A._library.reshape(dispatch.run("spmv", A, x[:, 0], trans=trans), (rows, 1))
    if columns == 0:
        xp = A._library
        return xp.zeros((rows, 0), dtype=xp.result_type(A.dtype, x.dtype))
    return dispatch.run("spmm", A, x, trans=trans)


def check_operand(A: SparseArray, x: Any, trans: str, convert: bool = True) -> Any:
    """The operand ready for a kernel: right library and device, one of the value types, native byte order, right shape.

    ``convert=False`` leaves integers integers.
    """
    namespace = dispatch.namespace_of(type(x))
    if namespace != A._namespace:
        x = _adopt(A, x, namespace)
    elif namespace == "cupy" and x.device != A._holder.data.device:
        raise TypeError(
            f"the matrix is on cuda:{A._holder.data.device.id} and the operand on cuda:{x.device.id}; move one of "
            "them with to_device"
        )
    if isinstance(x, np.ndarray):
        if type(x) is not np.ndarray:
            x = _arrays.unmasked(x)
        if not x.dtype.isnative:
            x = x.astype(x.dtype.newbyteorder("="))
        if convert and x.dtype.char not in _arrays.VALUE_TYPES:
            x = x.astype(_arrays.value_dtype(x.dtype))
    elif namespace == "cupy" and convert and x.dtype.char not in _arrays.VALUE_TYPES:
        x = x.astype(_arrays.value_dtype(x.dtype))
    inner = A.shape[1] if trans == "N" else A.shape[0]
    if x.ndim not in (1, 2) or x.shape[0] != inner:
        op = {"N": "A", "T": "A.T", "C": "A.H"}[trans]
        shape = A.shape if trans == "N" else A.shape[::-1]
        raise ValueError(
            f"{op} @ x: {op} has shape {shape}, so x must have shape ({inner},) or ({inner}, k), got {tuple(x.shape)}"
        )
    return x


def _adopt(A: SparseArray, x: Any, namespace: str) -> Any:
    """An operand from elsewhere: lists and frames become NumPy arrays, arrays of another device or library are
    refused."""
    known = {"numpy": "the host (numpy)", "cupy": "a GPU (cupy)"}
    if namespace in ("cupy", "torch", "array_api_strict", "jax", "jaxlib", "dask") or A._namespace != "numpy":
        ours = known.get(A._namespace, A._namespace)
        theirs = known.get(namespace, namespace)
        fix = {
            ("cupy", "numpy"): "use cupy.asarray(x), or A.to_device('cpu')",
            ("numpy", "cupy"): "use x.get(), or A.to_device('cuda')",
        }.get((A._namespace, namespace), "convert one of them: A.to_namespace(...) changes the matrix")
        raise TypeError(f"the matrix is on {ours} and the operand on {theirs}; {fix}")
    x = np.asarray(x)
    if x.dtype == object:
        raise TypeError(f"cannot multiply a sparse array by an operand of type {type(x).__name__} with object values")
    return x


def sparse_product(A: SparseArray, B: SparseArray) -> SparseArray:
    """``A @ B`` of two sparse arrays, in the family both belong to where they share one, else CSR."""
    again = multiply_again(A, B)
    if again is not None:
        return again
    if A.shape[1] != B.shape[0]:
        raise ValueError(f"A @ B: shapes {A.shape} and {B.shape} do not match, {A.shape[1]} != {B.shape[0]}")
    if A._namespace != B._namespace:
        raise TypeError(
            f"A holds {A._namespace} arrays and B {B._namespace} arrays; move one with to_device or to_namespace"
        )
    if integer_products.is_integer(A) or integer_products.is_integer(B):
        if integer_products.is_integer(A) and integer_products.is_integer(B) and A._namespace == "numpy":
            return integer_products.sparse_product(A, B)
        A, B = (
            integer_products.as_floating(X, Y.dtype) if integer_products.is_integer(X) else X
            for X, Y in ((A, B), (B, A))
        )
    operation, A, B = common_family(A, B)
    if operation == "diagmm":
        return multiply(A, B)
    return dispatch.call(operation, A, B)


def common_family(A: SparseArray, B: SparseArray) -> tuple[str, SparseArray, SparseArray]:
    """The operation that multiplies A by B, and both in the format it takes."""
    if isinstance(A, DiagonalArray) and isinstance(B, DiagonalArray):
        return "diagmm", A, B
    if isinstance(A, BSR) and isinstance(B, BSR) and A.blocksize[1] == B.blocksize[0] and not (A.padded or B.padded):
        return "spgemm", A, B
    return "spgemm", A.to_csr(), B.to_csr()
