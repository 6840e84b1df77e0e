"""What a newcomer's mistakes are told."""

import copy
import importlib.util
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import spformats as sf


@pytest.mark.parametrize(
    ("name", "hint"),
    [("CDS", "did you mean 'cds'"), ("pjads", "did you mean 'pjad'"), ("dia", "'cds' is the nearest"), ("x", "known:")],
)
def test_a_format_of_another_name(name, hint):
    with pytest.raises(ValueError, match=hint):
        sf.asarray(sp.eye_array(4), format=name)


def test_a_class_is_no_format_name():
    with pytest.raises(TypeError, match="format must be a name"):
        sf.asarray(sp.eye_array(4), format=sf.CDS)


@pytest.mark.parametrize("thing", ["matrix.mtx", None, object()])
def test_what_is_no_matrix(thing):
    with pytest.raises(TypeError, match=f"a {type(thing).__name__} is no matrix"):
        sf.asarray(thing)


def test_a_vector_has_no_format_to_recommend():
    with pytest.raises(ValueError, match="only a matrix"):
        sf.advisor.recommend(np.ones(3))


def test_a_grid_has_whole_lengths():
    with pytest.raises(TypeError, match="integer"):
        sf.gallery.poisson2d(3.5)


def test_a_refused_division_does_not_warn_too():
    A = sf.gallery.laplace1d(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for divide in (lambda: A / 0, lambda: 2 / A):
            with pytest.raises(sf.DensifyError, match="is not 0"):
                divide()


def test_an_operation_of_another_name():
    A = sf.gallery.laplace1d(4)
    assert "no kernels of that operation; there are: " in str(sf.dispatch.explain("smpv", A))
    assert "no kernels of that operation" not in str(sf.dispatch.explain("spmv", A))


def test_the_gallery_holds_functions_only():
    names = [name for name in dir(sf.gallery) if not name.startswith("_")]
    assert all(callable(getattr(sf.gallery, name)) for name in names)


def test_what_needs_cupy_names_its_package():
    if importlib.util.find_spec("cupy"):
        pytest.skip("CuPy is installed")
    A = sf.gallery.laplace1d(4)
    for use in (A.to_cupyx_sparse, lambda: A.to_device("cuda")):
        with pytest.raises(ImportError, match="pip install cupy-cuda13x"):
            use()


@pytest.mark.parametrize("cls", [sf.CSR, sf.ELL, sf.JAD, sf.PJAD, sf.BSR, sf.CDS, sf.HM, sf.CDM])
def test_a_class_is_no_conversion(cls):
    for matrix in (sp.eye_array(4, format="csr"), np.eye(4), sf.eye(4)):
        with pytest.raises(TypeError, match=rf"use spformats.asarray\(A, format='{cls.format}'\)"):
            cls(matrix)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda g: g.laplace1d(2.5), "n"),
        (lambda g: g.poisson2d(3, 2.5), "ny"),
        (lambda g: g.poisson3d(2.5), "nx"),
        (lambda g: g.stencil27(3, 3, 2.5), "nz"),
        (lambda g: g.advection_diffusion2d(2.5), "nx"),
        (lambda g: g.elasticity((3, 2.5)), r"grid\[1\]"),
        (lambda g: g.banded(9, kl=2.5, ku=1), "kl"),
        (lambda g: g.structured(9, 2.5), "ndiags"),
        (lambda g: g.block_band(2.5), "n"),
        (lambda g: g.dense_spd(2.5), "n"),
        (lambda g: g.power_law(2.5), "n"),
    ],
)
def test_sizes_of_the_gallery_are_whole_and_named(call, name):
    with pytest.raises(TypeError, match=f"^{name} must be an integer, got 2.5"):
        call(sf.gallery)


def test_devices_and_libraries_of_other_names():
    A = sf.gallery.laplace1d(4)
    assert type(A.to_namespace("array_api_strict").data).__module__.startswith("array_api_strict")
    with pytest.raises(TypeError, match="an array library is given as its module"):
        A.to_namespace(3)
    with pytest.raises(ValueError, match="'cpu', 'cuda', 'cuda:1'"):
        A.to_device("gpu")
    with pytest.raises(TypeError, match="got None"):
        A.to_device(None)


@pytest.mark.parametrize("k", [1.5, "a"])
def test_a_diagonal_has_a_whole_number(k):
    A = sf.gallery.laplace1d(4)
    for B in (A, A.asformat("csr"), A.asformat("csr").T):
        with pytest.raises(TypeError, match="k must be an integer, got"):
            B.diagonal(k)


@pytest.mark.parametrize("thing", ["matrix.mtx", None, aslinearoperator(np.eye(3))])
def test_what_has_no_format_to_recommend(thing):
    with pytest.raises(TypeError, match=f"a {type(thing).__name__}"):
        sf.advisor.recommend(thing)


def test_functions_say_how_to_convert_scipys_arrays():
    with pytest.raises(TypeError, match=r"csr_array is not a supported array type; spformats.asarray\(A\) makes one"):
        sf.sqrt(sp.eye_array(3, format="csr"))


def test_methods_that_are_functions_here():
    A = sf.gallery.laplace1d(4)
    names = {"max": "max", "mean": "mean", "nonzero": "nonzero", "reshape": "reshape", "real": "real", "power": "pow"}
    for B in (A, A.T, A.asformat("csr").T):
        for name, function in names.items():
            assert not hasattr(B, name) and callable(getattr(sf, function))
            with pytest.raises(AttributeError, match=rf"no attribute '{name}'; use spformats.{function}\(A\)$"):
                getattr(B, name)
        with pytest.raises(AttributeError, match=r"no attribute 'setdiag'$"):
            B.setdiag  # noqa: B018
        assert (pickle.loads(pickle.dumps(B)) != B).nnz == (copy.copy(B) != copy.deepcopy(B)).nnz == 0
