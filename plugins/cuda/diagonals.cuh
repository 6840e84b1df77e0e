// Diagonal formats: entry (i, i + offset[k]) of op(A) is flat[base[k] + i]. One kernel reads CDS, HM and CDM, plain,
// transposed and symmetric.
//
// Where TABLE is 1 the offsets and bases are written into the source (OFFSETS, BASES), where it is 2 they come as a kernel
// parameter (the constant bank), where it is 3 they lie in global memory and ND is a run-time number.
// RUN rows per thread; ALIGNED: every base is a multiple of RUN and flat is aligned, so that RUN values come in one load.
// LOW and HIGH: rows between them have an entry in every diagonal.

#if TABLE == 1
static __device__ constexpr i64 OFFSET_LIST[ND] = {OFFSETS};
static __device__ constexpr i64 BASE_LIST[ND] = {BASES};
#define OFFSET(k) OFFSET_LIST[k]
#define BASE(k) BASE_LIST[k]
#define TABLE_ARGS
#define COUNT ND
#define UNROLLED _Pragma("unroll")
#elif TABLE == 2
struct Table { i64 base[ND]; i64 offset[ND]; };
#define OFFSET(k) table.offset[k]
#define BASE(k) table.base[k]
#define TABLE_ARGS const Table table,
#define COUNT ND
#define UNROLLED _Pragma("unroll")
#else
#define OFFSET(k) __ldg(offsets + k)
#define BASE(k) __ldg(bases + k)
#define TABLE_ARGS const i64 *__restrict__ bases, const i64 *__restrict__ offsets, int nd,
#define COUNT nd
#define UNROLLED _Pragma("unroll 4")
#endif

#ifdef RUN
template <int K> struct Aligned {
#if TABLE == 1
    static constexpr bool matrix = ALIGNED && BASE_LIST[K] % RUN == 0;
    static constexpr bool vector = OFFSET_LIST[K] % RUN == 0;
#else
    static constexpr bool matrix = ALIGNED;
    static constexpr bool vector = false;
#endif
};

template <bool MATRIX, bool X> __device__ __forceinline__ void diagonal(TY (&s)[RUN], const TA* a, const TX* x) {
    TA av[RUN];
    TX xv[RUN];
    load_run<RUN, MATRIX, true>(a, av);
    load_run<RUN, X, false>(x, xv);
#pragma unroll
    for (int v = 0; v < RUN; ++v) {
#if CONJ
        av[v] = conjugate(av[v]);
#endif
        madd(s[v], av[v], xv[v]);
    }
}

#if TABLE == 1
template <int K> __device__ __forceinline__ void diagonals_from(TY (&s)[RUN], const TA* flat, const TX* x, i64 i) {
    if constexpr (K < ND) {
        diagonal<Aligned<K>::matrix, Aligned<K>::vector>(s, flat + BASE_LIST[K] + i, x + i + OFFSET_LIST[K]);
        diagonals_from<K + 1>(s, flat, x, i);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 rows, i64 cols, i64 low, i64 high, const TA* __restrict__ flat, TABLE_ARGS const TX* __restrict__ x,
    TY* __restrict__ y, TY alpha, TY beta, int mode) {
    const i64 tile = i64(blockIdx.x) * (BLOCK * RUN);
    const i64 i = tile + i64(threadIdx.x) * RUN;
    if (i >= rows) return;
    TY s[RUN];
#pragma unroll
    for (int v = 0; v < RUN; ++v) s[v] = ZERO(TY);
    if (tile >= low && tile + BLOCK * RUN <= high) {
#if TABLE == 1
        diagonals_from<0>(s, flat, x, i);
#else
        UNROLLED
        for (int k = 0; k < COUNT; ++k) diagonal<ALIGNED, false>(s, flat + BASE(k) + i, x + i + OFFSET(k));
#endif
    } else {
        UNROLLED
        for (int k = 0; k < COUNT; ++k) {
            const i64 j = i + OFFSET(k);
            const TA* a = flat + BASE(k) + i;
#pragma unroll
            for (int v = 0; v < RUN; ++v)
                if (j + v >= 0 && j + v < cols && i + v < rows) madd(s[v], matrix_value(a + v), reuse(x + j + v));
        }
    }
    if (RUN * sizeof(TY) == 16 && i + RUN <= rows) {
        TY out[RUN];
#pragma unroll
        for (int v = 0; v < RUN; ++v) out[v] = finished(s[v], y + i + v, alpha, beta, mode);
        uint4 raw;
        memcpy(&raw, out, 16);
        *reinterpret_cast<uint4*>(y + i) = raw;
    } else {
#pragma unroll
        for (int v = 0; v < RUN; ++v)
            if (i + v < rows) y[i + v] = finished(s[v], y + i + v, alpha, beta, mode);
    }
}

#endif

#ifdef LANES
// x is (cols, k) and y is (rows, k), both C-contiguous: a thread owns COLS neighbouring columns of one row
extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmm(
    i64 rows, i64 cols, i64 low, i64 high, const TA* __restrict__ flat, TABLE_ARGS const TX* __restrict__ x,
    TY* __restrict__ y, TY alpha, TY beta, int mode, i64 k_cols) {
    constexpr int ROWS = BLOCK / LANES;
    const i64 tile = i64(blockIdx.x) * ROWS;
    const i64 i = tile + threadIdx.x / LANES;
    const i64 c = (i64(blockIdx.y) * LANES + threadIdx.x % LANES) * COLS;
    if (i >= rows || c >= k_cols) return;
    TY s[COLS];
#pragma unroll
    for (int w = 0; w < COLS; ++w) s[w] = ZERO(TY);
    const bool inside = tile >= low && tile + ROWS <= high;
    UNROLLED
    for (int k = 0; k < COUNT; ++k) {
        const i64 j = i + OFFSET(k);
        if (inside || (j >= 0 && j < cols)) {
            const TA a = matrix_value(flat + BASE(k) + i);
            TX xv[COLS];
            load_run<COLS, true, false>(x + j * k_cols + c, xv);
#pragma unroll
            for (int w = 0; w < COLS; ++w) madd(s[w], a, xv[w]);
        }
    }
    TY* out = y + i * k_cols + c;
#pragma unroll
    for (int w = 0; w < COLS; ++w) out[w] = finished(s[w], out + w, alpha, beta, mode);
}
#endif
