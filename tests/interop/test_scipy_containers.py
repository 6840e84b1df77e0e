"""SciPy's own arrays from ours, beside ours, stacked with ours; csgraph."""

import copy
import pickle

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph
from layouts import LAYOUTS, TRANSPOSED, build, example

import spformats as sf

pytestmark = [
    pytest.mark.filterwarnings("error"),
    # SciPy's own advice on what it converts; its dia_array gets the same
    pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning"),
    pytest.mark.filterwarnings("ignore:Input matrix should be in CSC, CSR, or COO"),
]

EVERY = [*LAYOUTS, *TRANSPOSED]
KINDS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


@pytest.fixture(params=EVERY)
def layout(request):
    return request.param


@pytest.fixture(params=[np.float64, np.complex64], ids=["float64", "complex64"])
def S(request):
    return example(dtype=request.param)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["array", "matrix"])
@pytest.mark.parametrize("copy", [False, True])
def test_scipys_constructors(S, layout, kind, family, copy):
    A, D = build(S, layout), S.toarray()
    C = getattr(sp, f"{kind}_{family}")(A, copy=copy)
    assert C.format == kind and C.dtype == S.dtype
    np.testing.assert_array_equal(C.toarray(), D)
    C *= 2  # writable, and nothing to do with A
    if kind in ("csr", "csc", "lil", "dok"):
        C[0, 0] = 7
    np.testing.assert_array_equal(A.todense(), D)
    parts = [part for part in vars(C).values() if isinstance(part, np.ndarray)]
    for ours in (getattr(A, name) for name in A.components):
        assert not any(np.shares_memory(ours, part) for part in parts)


@pytest.mark.parametrize("kind", KINDS)
def test_conversions_are_copies(S, layout, kind):
    A, D = build(S, layout), S.toarray()
    for C in (getattr(A, f"to{kind}")(), getattr(A, f"to{kind}")(copy=False)):
        assert type(C) is getattr(sp, f"{kind}_array")
        np.testing.assert_array_equal(C.toarray(), D)
        C *= 0
        np.testing.assert_array_equal(A.todense(), D)
    if kind not in ("csr", "bsr"):  # those names are ours
        assert type(A.asformat(kind)) is getattr(sp, f"{kind}_array")


def test_nearest_kind(S, layout):
    A = build(S, layout)
    C = A.to_scipy_sparse()
    expected = {"cds": "dia", "bsr": "bsr"}.get(A.format, "csr") if layout.partition(".")[0] != "bsr-padded" else "csr"
    assert C.format == expected
    np.testing.assert_array_equal(C.toarray(), S.toarray())
    C *= 0
    np.testing.assert_array_equal(A.todense(), S.toarray())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_arithmetic_with_scipys_arrays(S, layout, kind, family):
    """Their operators win where they are on the left, ours where we are; the numbers are the same."""
    A, D, T = build(S, layout), S.toarray(), example(seed=9)
    B, E = getattr(sp, f"{kind}_{family}")(T), T.toarray()

    def same(got, expected):
        np.testing.assert_allclose(got.todense(), expected, rtol=1e-5, atol=1e-5)

    same(A @ B, D @ E)
    same(B @ A, E @ D)
    same(A + B, D + E)
    same(B + A, E + D)
    same(A - B, D - E)
    same(B - A, E - D)
    if kind != "dok":
        same(A.multiply(B), D * E)
        same(B.multiply(A), E * D)
    if family == "array":
        same(A * B, D * E)
        same(B * A, E * D)


def test_stacking(S, layout):
    A, D, T = build(S, layout), S.toarray(), example(seed=9)
    E = T.toarray()
    same = np.testing.assert_allclose
    for blocks, dense in (([A, T], [D, E]), ([T, A], [E, D]), ([A, A], [D, D]), ([A], [D])):
        same(sp.hstack(blocks).toarray(), np.hstack(dense))
        same(sp.vstack(blocks).toarray(), np.vstack(dense))
        same(sp.vstack(blocks, format="csr").toarray(), np.vstack(dense))
        same(sp.block_diag(blocks).toarray(), la.block_diag(*dense))
    for stack in (sp.hstack, sp.vstack, sp.block_diag):
        assert isinstance(stack([A, A]), sp.sparray)
    same(sp.block_array([[A, None], [T, A]]).toarray(), np.block([[D, 0 * D], [E, D]]))
    for left, right, dl, dr in (
        (A, T, D, E),
        (T, A, E, D),
        (A, A, D, D),
        (A, np.eye(2), D, np.eye(2)),
        (np.eye(2), A, np.eye(2), D),
    ):
        same(sp.kron(left, right).toarray(), np.kron(dl, dr), rtol=1e-5)
    same(sp.kronsum(A, A).toarray(), np.kron(np.eye(16), D) + np.kron(D, np.eye(16)))
    same(sp.tril(A).toarray(), np.tril(D))
    same(sp.triu(A, 2).toarray(), np.triu(D, 2))
    rows, cols, values = sp.find(A)
    same(sp.coo_array((values, (rows, cols)), shape=D.shape).toarray(), D)


def test_issparse(layout):
    A = build(example(), layout)
    assert sp.issparse(A) and not sp.isspmatrix(A) and isinstance(A, sp.sparray)


def test_the_name_of_a_format(layout):
    """It is a plain string to everybody but SciPy's own code."""
    A = build(example(), layout)
    name, other = layout.partition(".")[0].partition("-")[0], "dia"
    assert A.format == name and name == A.format and A.format != other and not A.format != name
    assert A.format in (name,) and {name: 1}[A.format] == 1 and {A.format: 1}[name] == 1
    assert isinstance(A.format, str) and f"{A.format}" == name and A.format + "!" == name + "!"
    assert A.getformat() == name and copy.deepcopy(A.format) == name and pickle.loads(pickle.dumps(A.format)) == name
    assert "a " + A.format == f"a {name}"


def tree(G):
    return csgraph.shortest_path(sp.csr_array(G), return_predecessors=True)[1]


GRAPH = {
    "connected_components": csgraph.connected_components,
    "laplacian": lambda G: csgraph.laplacian(G).toarray(),
    "laplacian normed": lambda G: csgraph.laplacian(G, normed=True).toarray(),
    "laplacian symmetrized": lambda G: csgraph.laplacian(G, symmetrized=True).toarray(),
    "laplacian function": lambda G: csgraph.laplacian(G, form="function")(np.ones(16)),
    "shortest_path": csgraph.shortest_path,
    **{f"shortest_path {m}": lambda G, m=m: csgraph.shortest_path(G, method=m) for m in ("D", "FW", "BF", "J")},
    "shortest_path undirected": lambda G: csgraph.shortest_path(G, directed=False, unweighted=True),
    "floyd_warshall": csgraph.floyd_warshall,
    "reconstruct_path": lambda G: csgraph.reconstruct_path(G, tree(G)[0]).toarray(),
    "construct_dist_matrix": lambda G: csgraph.construct_dist_matrix(G, tree(G)),
    "dijkstra": csgraph.dijkstra,
    "dijkstra undirected": lambda G: csgraph.dijkstra(G, directed=False, indices=[0, 3]),
    "bellman_ford": csgraph.bellman_ford,
    "johnson": csgraph.johnson,
    "yen": lambda G: csgraph.yen(G, 0, 7, 2),
    "breadth_first_order": lambda G: csgraph.breadth_first_order(G, 0),
    "depth_first_order": lambda G: csgraph.depth_first_order(G, 0),
    "breadth_first_tree": lambda G: csgraph.breadth_first_tree(G, 0).toarray(),
    "depth_first_tree": lambda G: csgraph.depth_first_tree(G, 0).toarray(),
    "minimum_spanning_tree": lambda G: csgraph.minimum_spanning_tree(G).toarray(),
    "structural_rank": csgraph.structural_rank,
}


@pytest.mark.parametrize("function", GRAPH)
def test_csgraph(layout, function):
    """Every function that takes SciPy's own dia_array, and those that refuse to make it dense."""
    G = abs(example(density=0.1, seed=4))
    A = build(G, layout)
    before = A.todense()
    got, expected = GRAPH[function](A), GRAPH[function](G)
    for ours, theirs in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, expected)), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    np.testing.assert_array_equal(A.todense(), before)


CSR_ONLY = {
    "maximum_bipartite_matching": csgraph.maximum_bipartite_matching,
    "min_weight_full_bipartite_matching": lambda G: csgraph.min_weight_full_bipartite_matching(G),
    "maximum_flow": lambda G: csgraph.maximum_flow(G.astype(np.int32), 0, 7).flow_value,
    "reverse_cuthill_mckee": csgraph.reverse_cuthill_mckee,
    "csgraph_to_dense": csgraph.csgraph_to_dense,
    "csgraph_to_masked": lambda G: csgraph.csgraph_to_masked(G).filled(0),
}


@pytest.mark.parametrize("function", CSR_ONLY)
def test_csgraph_of_csr_only(layout, function):
    """These are compiled, look at the format's name themselves and refuse others: SciPy's own CSR serves."""
    G = sp.csr_array(np.round(10 * abs(example(density=0.2, seed=4)).toarray()) + np.diag(np.arange(1.0, 17)))
    A = build(G, layout)
    np.testing.assert_array_equal(CSR_ONLY[function](A.tocsr()), CSR_ONLY[function](G))
    if A.format != "csr":
        with pytest.raises((TypeError, ValueError), match=r"(?i)csr"):
            CSR_ONLY[function](A)


def test_numpy_is_not_densified_in_silence(layout):
    A = build(example(), layout)
    for function in (np.asarray, np.array, np.sin, la.expm, la.norm, np.linalg.inv):
        with pytest.raises(TypeError):
            function(A)
    with pytest.raises(TypeError, match="todense"):
        np.asarray(A)
    holder = np.empty(1, dtype=object)
    holder[0] = A
    assert holder[0] is A


def test_scipys_sparse_arrays_come_back(layout):
    A = build(example(), layout)
    for kind in KINDS:
        again = sf.asarray(getattr(sp, f"{kind}_array")(A))
        np.testing.assert_array_equal(again.todense(), A.todense())
