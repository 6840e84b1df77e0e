"""save and load: nothing is lost, nothing is pickled, nothing broken is built."""

import gc
import io
import pickle
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import spformats as sf

LAYOUTS = [
    ("csr", {}),
    ("ell", {}),
    ("jad", {}),
    ("pjad", {"bsize": 4}),
    ("pjad", {"bsize": 2, "sigma": 8}),
    ("bsr", {"blocksize": (2, 3)}),
    ("bsr", {"blocksize": (5, 5), "pad": True}),
    ("cds", {}),
    ("cds", {"symmetric": True}),
    ("hm", {}),
    ("cdm", {}),
]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def example(dtype=np.float64, symmetric=False):
    rng = np.random.default_rng(1)
    M = rng.standard_normal((12, 12)) * (rng.random((12, 12)) < 0.3)
    M[4] = 0
    if np.dtype(dtype).kind == "c":
        M = M * (1 + 2j)
    return (M + M.T if symmetric else M).astype(dtype)


def same(A, B):
    assert type(A) is type(B) and A.shape == B.shape and A.dtype == B.dtype
    for name in A.components:
        a, b = getattr(A, name), getattr(B, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype and a.flags.f_contiguous == b.flags.f_contiguous
    for name in A.parameters:
        assert getattr(A, name) == getattr(B, name) and type(getattr(A, name)) is type(getattr(B, name))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("format", "layout"), LAYOUTS)
@pytest.mark.parametrize("compressed", [False, True])
def test_round_trip(tmp_path, format, layout, dtype, compressed):
    A = sf.asarray(example(dtype, "symmetric" in layout), format=format, **layout)
    sf.save(tmp_path / "a.npz", A, compressed=compressed)
    same(A, sf.load(tmp_path / "a.npz"))


@pytest.mark.parametrize("format", ["csr", "ell", "jad", "pjad", "cds"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (2, 7)])
def test_round_trip_of_edge_shapes(format, shape):
    A = sf.asarray(np.ones(shape), format=format)
    stream = io.BytesIO()
    sf.save(stream, A)
    stream.seek(0)
    same(A, sf.load(stream))


@pytest.mark.parametrize("format", ["csr", "ell", "bsr", "cds", "hm", "cdm"])
def test_transposed_views(format):
    M = example(np.complex128)
    A = sf.asarray(M, format=format, **({"blocksize": (2, 3)} if format == "bsr" else {}))
    for view, expected in ((A.T, M.T), (A.H, M.conj().T)):
        stream = io.BytesIO()
        sf.save(stream, view)
        stream.seek(0)
        np.testing.assert_array_equal(sf.load(stream).todense(), expected)


def test_names(tmp_path):
    A = sf.eye(3)
    sf.save(tmp_path / "plain", A)
    assert [p.name for p in tmp_path.iterdir()] == ["plain.npz"]
    same(A, sf.load(tmp_path / "plain"))
    same(A, sf.load(str(tmp_path / "plain.npz")))
    with pytest.raises(FileNotFoundError, match="none"):
        sf.load(tmp_path / "none.npz")


def test_no_pickle_in_the_file(tmp_path):
    path = tmp_path / "a.npz"
    sf.save(path, sf.asarray(example(), format="pjad", bsize=2))
    with np.load(path, allow_pickle=False) as content:
        assert all(content[name].dtype != object for name in content.files)


def test_foreign_files(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones(3))
    with pytest.raises(ValueError, match=r"not written by spformats\.save.*x"):
        sf.load(path)
    sp.save_npz(path, sp.eye_array(3, format="csr"))
    with pytest.raises(ValueError, match="load_npz"):
        sf.load(path)
    np.save(tmp_path / "b.npy", np.ones(3))
    with pytest.raises(ValueError, match="single"):
        sf.load(tmp_path / "b.npy")
    for content in (b"", b"hello", b"PK\x03\x04 broken", pickle.dumps({"a": 1})):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"a\.npz"):
            sf.load(path)


def test_a_pickle_is_not_run(tmp_path):
    path = tmp_path / "a.npz"
    sf.save(path, sf.eye(3))
    entries = dict(np.load(path))
    entries["data"] = np.array([print], dtype=object)
    np.savez(path, **entries)
    with pytest.raises(ValueError, match="allow_pickle"):
        sf.load(path)


def test_a_damaged_file_is_closed(tmp_path):
    path = tmp_path / "a.npz"
    sf.save(path, sf.eye(50))
    path.write_bytes(path.read_bytes()[:200])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="not a readable"):
            sf.load(path)
        gc.collect()
    assert not [w for w in caught if issubclass(w.category, ResourceWarning)]


def test_cut_and_flipped_bytes(tmp_path):
    path = tmp_path / "a.npz"
    A = sf.asarray(example(), format="csr")
    sf.save(path, A)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError):
        sf.load(path)
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(content), 60):
        flipped = bytearray(content)
        flipped[position] ^= 0xFF
        path.write_bytes(flipped)
        try:
            B = sf.load(path)
        except (ValueError, FileNotFoundError):
            continue
        np.testing.assert_array_equal(B.todense(), A.todense())


CORRUPTIONS = {
    "index too large": {"indices": lambda a: a + 100},
    "index negative": {"indices": lambda a: a - 100},
    "pointers fall": {"indptr": lambda a: a[::-1].copy()},
    "pointers short": {"indptr": lambda a: a[:-1]},
    "data short": {"data": lambda a: a[:-1]},
    "indices as floats": {"indices": lambda a: a.astype(float)},
    "shape of three": {"shape": lambda a: np.array([1, 2, 3])},
    "shape negative": {"shape": lambda a: -a},
    "shape smaller": {"shape": lambda a: a // 2},
    "format unknown": {"format": lambda a: np.str_("nonsense")},
    "another format": {"format": lambda a: np.str_("ell")},
    "parameters not JSON": {"parameters": lambda a: np.str_("{")},
    "parameters foreign": {"parameters": lambda a: np.str_('{"bsize": 3}')},
    "version from the future": {"spformats": lambda a: np.int64(99)},
    "version a text": {"spformats": lambda a: np.str_("x")},
    "values as text": {"data": lambda a: a.astype("U8")},
}


@pytest.mark.parametrize("name", CORRUPTIONS)
def test_arrays_that_do_not_fit(tmp_path, name):
    path = tmp_path / "a.npz"
    sf.save(path, sf.asarray(example(), format="csr"))
    entries = dict(np.load(path))
    for key, change in CORRUPTIONS[name].items():
        entries[key] = change(entries[key])
    np.savez(path, **entries)
    with pytest.raises(ValueError, match=r"a\.npz"):
        sf.load(path)


@pytest.mark.parametrize("missing", ["format", "shape", "parameters", "data", "indptr"])
def test_a_missing_entry(tmp_path, missing):
    path = tmp_path / "a.npz"
    sf.save(path, sf.asarray(example(), format="csr"))
    entries = dict(np.load(path))
    del entries[missing]
    np.savez(path, **entries)
    with pytest.raises(ValueError, match=r"a\.npz"):
        sf.load(path)


def test_blocksize_must_agree(tmp_path):
    path = tmp_path / "a.npz"
    sf.save(path, sf.asarray(example(), format="bsr", blocksize=(2, 2)))
    entries = dict(np.load(path))
    entries["parameters"] = np.str_('{"blocksize": [4, 1]}')
    np.savez(path, **entries)
    with pytest.raises(ValueError, match="blocksize"):
        sf.load(path)


def test_the_entries_have_plain_names(tmp_path):
    path = tmp_path / "a.npz"
    sf.save(path, sf.asarray(example(), format="csr"))
    with zipfile.ZipFile(path) as archive:
        assert {"spformats.npy", "format.npy", "shape.npy", "parameters.npy", "data.npy"} <= set(archive.namelist())


def test_a_file_of_another_kind_is_named_as_one(tmp_path):
    A = sf.gallery.laplace1d(4)
    market, text, archive = tmp_path / "a.npz", tmp_path / "b.npz", tmp_path / "c.mtx"
    sf.mmwrite(market, A)
    text.write_text("1 2 3")
    with open(archive, "wb") as file:
        sf.save(file, A)
    with pytest.raises(ValueError, match=r"a.npz: .*no zip file.*spformats.mmread reads") as market_error:
        sf.load(market)
    with pytest.raises(ValueError, match=r"b.npz: .*no zip file, it begins with b'1 2 3'") as text_error:
        sf.load(text)
    assert "pickle" not in f"{market_error.value} {text_error.value}"
    with pytest.raises(ValueError, match=r"^\S*c.mtx: .*zip archive; spformats.load reads"):
        sf.mmread(archive)
    (tmp_path / "d.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2\n")
    with pytest.raises(ValueError, match=r"^\S*d.mtx: line 2: '2 2'"):
        sf.mmread(tmp_path / "d.mtx")
