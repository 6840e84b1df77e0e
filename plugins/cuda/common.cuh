// Value types, loads, shuffles and the alpha/beta tail that every kernel shares.
//
// The launcher writes macros above this text: TA, TX, TY (value types of the matrix, the vector and the result), INDEX
// (int or long long), CONJ (1 to conjugate the matrix), STREAM (1 if the matrix does not fit in the L2 cache, so that
// reading it should not push the vectors out).

typedef long long i64;

template <class T> struct alignas(2 * sizeof(T)) cplx { T re, im; };

template <class T> struct is_complex { static constexpr bool value = false; };
template <class T> struct is_complex<cplx<T>> { static constexpr bool value = true; };

template <class T> __device__ __forceinline__ T real_of(T v) { return v; }
template <class T> __device__ __forceinline__ T real_of(cplx<T> v) { return v.re; }
template <class T> __device__ __forceinline__ T imag_of(T) { return T(0); }
template <class T> __device__ __forceinline__ T imag_of(cplx<T> v) { return v.im; }

template <class T> __device__ __forceinline__ T zero(T*) { return T(0); }
template <class T> __device__ __forceinline__ cplx<T> zero(cplx<T>*) { return {T(0), T(0)}; }
#define ZERO(T) zero(static_cast<T*>(nullptr))

// s += a * x, in the type of s: narrower operands are widened, never the other way round
template <class S, class A, class X> __device__ __forceinline__ void madd(S& s, A a, X x) {
    if constexpr (!is_complex<S>::value) {
        s += S(a) * S(x);
    } else {
        typedef decltype(s.re) R;
        const R ar = R(real_of(a)), xr = R(real_of(x));
        s.re += ar * xr;
        if constexpr (is_complex<X>::value) s.im += ar * R(imag_of(x));
        if constexpr (is_complex<A>::value) {
            const R ai = R(imag_of(a));
            s.im += ai * xr;
            if constexpr (is_complex<X>::value) s.re -= ai * R(imag_of(x));
        }
    }
}

template <class T> __device__ __forceinline__ T add(T a, T b) { return a + b; }
template <class T> __device__ __forceinline__ cplx<T> add(cplx<T> a, cplx<T> b) { return {a.re + b.re, a.im + b.im}; }

template <class T> __device__ __forceinline__ T conjugate(T v) { return v; }
template <class T> __device__ __forceinline__ cplx<T> conjugate(cplx<T> v) { return {v.re, -v.im}; }

// loads: matrix data pass through once, vectors are used again
template <class T> __device__ __forceinline__ T stream(const T* p) {
#if STREAM
    return __ldcs(p);
#else
    return __ldg(p);
#endif
}
template <class T> __device__ __forceinline__ T reuse(const T* p) { return __ldg(p); }
#define COMPLEX_LOADS(T, VEC)                                                                   \
    template <> __device__ __forceinline__ cplx<T> stream<cplx<T>>(const cplx<T>* p) {         \
        const VEC v = stream(reinterpret_cast<const VEC*>(p));                                  \
        return {v.x, v.y};                                                                      \
    }                                                                                           \
    template <> __device__ __forceinline__ cplx<T> reuse<cplx<T>>(const cplx<T>* p) {          \
        const VEC v = __ldg(reinterpret_cast<const VEC*>(p));                                   \
        return {v.x, v.y};                                                                      \
    }
COMPLEX_LOADS(float, float2)
COMPLEX_LOADS(double, double2)

__device__ __forceinline__ TA matrix_value(const TA* p) {
#if CONJ
    return conjugate(stream(p));
#else
    return stream(p);
#endif
}

// a matrix value that neighbouring threads read too
__device__ __forceinline__ TA kept_value(const TA* p) {
#if CONJ
    return conjugate(reuse(p));
#else
    return reuse(p);
#endif
}

// V neighbouring values in loads of up to 16 bytes; p is aligned to min(16, V * sizeof(T)) bytes where VECTOR holds

template <int V, bool VECTOR, bool ONCE, class T> __device__ __forceinline__ void load_run(const T* p, T (&out)[V]) {
    if constexpr (VECTOR && V > 1 && sizeof(T) * V >= 16) {
        constexpr int PER = 16 / sizeof(T);
        static_assert(V % PER == 0, "a run is a whole number of 16-byte loads");
#pragma unroll
        for (int q = 0; q < V / PER; ++q) {
            const uint4* source = reinterpret_cast<const uint4*>(p + q * PER);
            const uint4 raw = ONCE ? stream(source) : __ldg(source);
            memcpy(&out[q * PER], &raw, 16);
        }
    } else if constexpr (VECTOR && V > 1 && sizeof(T) * V == 8) {
        const uint2* source = reinterpret_cast<const uint2*>(p);
        const uint2 raw = ONCE ? stream(source) : __ldg(source);
        memcpy(&out[0], &raw, 8);
    } else {
#pragma unroll
        for (int v = 0; v < V; ++v) out[v] = ONCE ? stream(p + v) : reuse(p + v);
    }
}

template <class T> __device__ __forceinline__ T shuffle_xor(T v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }
template <class T> __device__ __forceinline__ cplx<T> shuffle_xor(cplx<T> v, int mask) {
    return {__shfl_xor_sync(0xffffffffu, v.re, mask), __shfl_xor_sync(0xffffffffu, v.im, mask)};
}

// additions by several threads at once, in any order
template <class S> __device__ __forceinline__ void add_to(S* p, S v) { atomicAdd(p, v); }
template <class S> __device__ __forceinline__ void add_to(cplx<S>* p, cplx<S> v) {
    atomicAdd(&p->re, v.re);
    atomicAdd(&p->im, v.im);
}

// y = alpha * s + beta * y; bit 0 of mode: alpha is not 1, bit 1: beta is not 0 (only then the old y is read)
__device__ __forceinline__ TY finished(TY s, const TY* y, TY alpha, TY beta, int mode) {
    if (mode & 1) {
        TY t = ZERO(TY);
        madd(t, alpha, s);
        s = t;
    }
    if (mode & 2) madd(s, beta, *y);
    return s;
}
