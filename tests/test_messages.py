"""What a newcomer's mistakes are told."""

import importlib.util
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

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
