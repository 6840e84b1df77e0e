"""Constructors from raw arrays: they take what is right, and name the first value that is not."""

import numpy as np
import pytest

import spformats as sf

V = np.array([7.0, 1, 4])


def csr(data=V, indices=(0, 2, 1), indptr=(0, 2, 3), shape=(2, 3)):
    return sf.CSR(np.asarray(data), np.asarray(indices), np.asarray(indptr), shape=shape)


def ell(data=((7.0, 1), (4, 0)), indices=((0, 2), (1, 0)), rlen=(2, 1), shape=(2, 3)):
    return sf.ELL(np.asarray(data), np.asarray(indices), np.asarray(rlen), shape=shape)


def jad(data=(7.0, 4, 1), indices=(0, 1, 2), jd_ptr=(0, 2, 3), perm=(0, 1), shape=(2, 3)):
    return sf.JAD(np.asarray(data), np.asarray(indices), np.asarray(jd_ptr), np.asarray(perm), shape=shape)


def pjad(
    data=(7.0, 4, 1, 0), indices=(0, 1, 2, 0), jd_ptr=(0, 2, 4), block_ptr=(), brlen=(2,), rlen=(2, 1), perm=(0, 1),
    shape=(2, 3), bsize=2, sigma=None,
):  # fmt: skip
    arrays = [np.asarray(data)] + [
        np.asarray(a, dtype=np.int64) for a in (indices, jd_ptr, block_ptr, brlen, rlen, perm)
    ]
    return sf.PJAD(*arrays, shape=shape, bsize=bsize, sigma=sigma)


def bsr(data=(((1.0, 1, 1),),) * 2, indices=(0, 0), indptr=(0, 1, 2), shape=(2, 3), pad=False):
    return sf.BSR(np.asarray(data), np.asarray(indices), np.asarray(indptr), shape=shape, pad=pad)


def cds(data=((7.0, 4), (1, 2)), offsets=(0, 1), shape=(2, 3), symmetric=False):
    return sf.CDS(np.asarray(data), np.asarray(offsets), shape=shape, symmetric=symmetric)


def hm(data=(1.0, 2, 3), offsets=(0, -1), starts=None, shape=(2, 2)):
    return sf.HM(np.asarray(data), np.asarray(offsets), None if starts is None else np.asarray(starts), shape=shape)


def cdm(data=((1.0, 2), (3, 4)), offsets=(0, 1, -1), rows=(0, 1, 1), shape=(2, 2), transposed=False):
    return sf.CDM(np.asarray(data), np.asarray(offsets), np.asarray(rows), shape=shape, transposed=transposed)


RIGHT = {
    csr: [[7, 0, 1], [0, 4, 0]],
    ell: [[7, 0, 1], [0, 4, 0]],
    jad: [[7, 0, 1], [0, 4, 0]],
    pjad: [[7, 0, 1], [0, 4, 0]],
    bsr: [[1, 1, 1], [1, 1, 1]],
    cds: [[7, 1, 0], [0, 4, 2]],
    hm: [[1, 0], [3, 2]],
    cdm: [[1, 3], [4, 2]],
}


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_right_arrays(make):
    A = make()
    np.testing.assert_array_equal(A.todense(), RIGHT[make])
    np.testing.assert_array_equal(A @ np.eye(A.shape[1]), RIGHT[make])
    assert A.format == make.__name__


WRONG = [
    # shapes and types
    (csr, {"shape": (2, 3, 4)}, r"two integers.*\(2, 3, 4\)"),
    (csr, {"shape": (2.5, 3)}, r"2\.5"),
    (csr, {"shape": (-1, 3)}, r"-1"),
    (csr, {"shape": 3}, r"3"),
    (csr, {"data": V.astype("U3")}, r"dtype <U"),
    (csr, {"data": V.astype(object)}, r"dtype object"),
    (csr, {"indices": (0.0, 2, 1)}, r"indices.*float64"),
    (csr, {"indptr": (0.0, 2, 3)}, r"indptr.*float64"),
    # pointers
    (csr, {"indptr": (0, 2)}, r"indptr.*length 3.*\(2,\)"),
    (csr, {"indptr": (1, 2, 3)}, r"indptr\[0\] = 1"),
    (csr, {"indptr": (0, 4, 3)}, r"indptr\[1\] = 4 > indptr\[2\] = 3"),
    (csr, {"indptr": (0, 2, 2)}, r"indptr.*3.*2"),
    # indices
    (csr, {"indices": (0, 3, 1)}, r"indices\[1\] = 3"),
    (csr, {"indices": (-1, 2, 1)}, r"indices\[0\] = -1"),
    (csr, {"indices": (2, 0, 1)}, r"indices\[0\] = 2, indices\[1\] = 0"),
    (csr, {"indices": (2, 2, 1)}, r"indices\[0\] = 2, indices\[1\] = 2"),
    (csr, {"indices": (0, 2)}, r"\(3,\).*\(2,\)"),
    (ell, {"indices": ((0, 3), (1, 0))}, r"\[1\] = 3"),
    (ell, {"indices": ((2, 0), (1, 0))}, r"rise"),
    (ell, {"rlen": (2, 3)}, r"rlen\[1\] = 3"),
    (ell, {"rlen": (2, -1)}, r"rlen\[1\] = -1"),
    (ell, {"rlen": (2, 1, 1)}, r"rlen.*\(2,\).*\(3,\)"),
    (ell, {"shape": (3, 3)}, r"\(3, width\).*\(2, 2\)"),
    (jad, {"perm": (0, 0)}, r"0 more than once"),
    (jad, {"perm": (0, 2)}, r"perm\[1\] = 2"),
    (jad, {"perm": (0, 1, 2)}, r"perm.*\(2,\).*\(3,\)"),
    (jad, {"jd_ptr": (0, 1, 3)}, r"must not grow.*\[1, 2\]"),
    (jad, {"jd_ptr": (0, 3, 2)}, r"jd_ptr\[1\] = 3 > jd_ptr\[2\] = 2"),
    (jad, {"jd_ptr": (0, 3)}, r"at most 2"),
    (jad, {"indices": (0, 1, 3)}, r"indices\[2\] = 3"),
    (jad, {"indices": (2, 1, 0)}, r"rise"),
    (pjad, {"bsize": 0}, r"bsize.*0"),
    (pjad, {"bsize": 2.0}, r"bsize.*2\.0"),
    (pjad, {"bsize": True}, r"bsize.*True"),
    (pjad, {"sigma": 3}, r"sigma.*bsize = 2.*3"),
    (pjad, {"brlen": (1,)}, r"brlen\[0\] = 1, longest 2"),
    (pjad, {"brlen": (2, 1)}, r"\(1,\).*\(2,\)"),
    (pjad, {"rlen": (1, 2)}, r"sorted|rises"),
    (pjad, {"jd_ptr": (0, 2, 3)}, r"jd_ptr.*\[0, 2, 4\].*\[0, 2, 3\]"),
    (pjad, {"indices": (0, 1, 5, 0)}, r"\[1\] = 5"),
    (pjad, {"perm": (1, 1)}, r"1 more than once"),
    (bsr, {"shape": (3, 3)}, r"indptr.*length 4"),
    (bsr, {"data": np.ones((2, 2, 2)), "shape": (3, 4)}, r"blocksize=\(2, 2\).*\(3, 4\)"),
    (bsr, {"data": np.ones((2, 3))}, r"\(nblocks, R, C\).*\(2, 3\)"),
    (bsr, {"indices": (0, 1)}, r"indices\[1\] = 1"),
    (bsr, {"indices": (0,)}, r"one entry a block.*2.*\(1,\)"),
    (bsr, {"indptr": (0, 2, 1)}, r"indptr\[1\] = 2 > indptr\[2\] = 1"),
    (bsr, {"indptr": (0, 2, 2)}, r"indices\[0\] = 0, indices\[1\] = 0"),
    (
        bsr,
        {"data": np.ones((1, 2, 2)), "indices": (0,), "indptr": (0, 1), "shape": (1, 2), "pad": True},
        r"over the edge",
    ),
    (cds, {"offsets": (1, 0)}, r"offsets\[0\] = 1, offsets\[1\] = 0"),
    (cds, {"offsets": (0, 0)}, r"0 occurs more than once"),
    (cds, {"offsets": (0, 3)}, r"offsets\[1\] = 3.*\(2, 3\)"),
    (cds, {"offsets": (-2, 0)}, r"offsets\[0\] = -2"),
    (cds, {"offsets": (0.0, 1)}, r"offsets.*float64"),
    (cds, {"offsets": (0,)}, r"\(1, 2\).*\(2, 2\)"),
    (cds, {"offsets": (0, 2)}, r"data\[1\].*\[0, 1\)"),
    (cds, {"symmetric": True}, r"square.*\(2, 3\)"),
    (cds, {"symmetric": True, "shape": (2, 2), "offsets": (-1, 0), "data": ((0.0, 1), (1, 1))}, r"-1"),
    (hm, {"shape": (2, 3)}, r"square.*\(2, 3\)"),
    (hm, {"offsets": (-1, 0)}, r"order.*\[-1, 0\]"),
    (hm, {"offsets": (0, 2)}, r"offsets\[1\] = 2"),
    (hm, {"offsets": (0, 1, -1)}, r"length 4.*\(3,\)"),
    (hm, {"starts": (0, 4)}, r"starts\[1\] = 4.*diagonal -1"),
    (hm, {"starts": (-1, 2)}, r"starts\[0\] = -1"),
    (hm, {"data": (1.0, 2)}, r"length 3.*\(2,\)"),
    (hm, {"starts": (0,)}, r"starts.*\(2,\).*\(1,\)"),
    (cdm, {"shape": (2, 3)}, r"square.*\(2, 3\)"),
    (cdm, {"rows": (0, 1, 2)}, r"rows\[2\] = 2"),
    (cdm, {"rows": (0, 0, 1)}, r"\[0, 1\] overlap in row 0"),
    (cdm, {"rows": (0, 1)}, r"rows.*\(3,\).*\(2,\)"),
    (cdm, {"offsets": (0, -1, 1)}, r"order.*\[0, -1, 1\]"),
    (cdm, {"data": ((1.0, 2, 3),)}, r"\(rows, 2\).*\(1, 3\)"),
]


@pytest.mark.parametrize(
    ("make", "changes", "message"), WRONG, ids=[f"{m.__name__} {next(iter(c))}" for m, c, _ in WRONG]
)
def test_wrong_arrays_are_named(make, changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make(**changes)


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_integers_and_half_precision_are_widened(make):
    float_data = np.asarray(make().data)
    for dtype, expected in (
        (np.int32, np.float64),
        (np.int8, np.float32),
        (bool, np.float32),
        (np.float16, np.float32),
    ):
        assert make(data=float_data.astype(dtype)).dtype == expected


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_the_callers_arrays_stay_writable(make):
    data = np.array(make().data)
    make(data=data)
    assert data.flags.writeable


def test_padding_is_cleaned():
    """Whatever stands in ELL's padding does not get in."""
    A = ell(data=((7.0, 1), (4, np.nan)), indices=((0, 2), (1, -99)))
    assert A.data[1, 1] == 0 and A.indices[1, 1] == 0
    np.testing.assert_array_equal(A @ np.array([np.nan, 1, 1]), [np.nan, 4])


@pytest.mark.parametrize("make", RIGHT, ids=lambda make: make.__name__)
def test_lists_are_taken_for_arrays(make):
    A = make()
    parts = {
        name: np.asarray(getattr(A, name)).tolist() for name in A.components if not (make is jad and name == "rlen")
    }
    again = type(A)(**parts, shape=list(A.shape), **{k: v for k, v in A._parameters().items() if k != "blocksize"})
    np.testing.assert_array_equal(again.todense(), A.todense())
