// PJAD with a block size per slice: a warp owns a slice of 32/k rows, k lanes a row. See lanes.py for the layout.
//
// Slice w is one int4: x the first step (a step is 32 values, one per lane), y the first index in units of 32 bytes,
// z where its rows are named, w = steps | log2(k) << 16 | width << 19 | named << 21 | rows << 22.
// Columns are stored relative to a base per step, in 1, 2 or 4 bytes (width 0, 1, 2); the largest value marks padding, which
// is skipped, so that NaN and infinity in x reach only the rows that have an entry there.
// Not named: the rows are z, z+1, …; named: rowmap[z], rowmap[z+1], …, where -1-p means piece p of a long row.

template <class D> __device__ __forceinline__ TY slice_sum(
    const TA* __restrict__ a, const D* __restrict__ d, const int* __restrict__ base, int steps, const TX* __restrict__ x) {
    constexpr D PADDING = D(-1);
    TY s[UNROLL > 1 ? 2 : 1];
#pragma unroll
    for (int q = 0; q < (UNROLL > 1 ? 2 : 1); ++q) s[q] = ZERO(TY);
    int t = 0;
    for (; t + UNROLL <= steps; t += UNROLL) {
        D dv[UNROLL];
        int bv[UNROLL];
        TA av[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            dv[u] = stream(d + (t + u) * 32);
            bv[u] = __ldg(base + t + u);
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) av[u] = matrix_value(a + (t + u) * 32);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (dv[u] != PADDING) madd(s[u % (UNROLL > 1 ? 2 : 1)], av[u], reuse(x + bv[u] + i64(dv[u])));
    }
    for (; t < steps; ++t) {
        const D dv = stream(d + t * 32);
        const int bv = __ldg(base + t);
        const TA av = matrix_value(a + t * 32);
        if (dv != PADDING) madd(s[0], av, reuse(x + bv + i64(dv)));
    }
    if constexpr (UNROLL > 1) return add(s[0], s[1]);
    else return s[0];
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 slices, const int4* __restrict__ slice, const int* __restrict__ rowmap, const int* __restrict__ base,
    const unsigned char* __restrict__ index, const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y,
    TY* __restrict__ partial, TY alpha, TY beta, int mode) {
    const i64 w = (i64(blockIdx.x) * BLOCK + threadIdx.x) / 32;
    if (w >= slices) return;
    const int lane = threadIdx.x % 32;
    const int4 m = __ldg(slice + w);
    const int steps = m.w & 0xffff, log_k = m.w >> 16 & 7, width = m.w >> 19 & 3, named = m.w >> 21 & 1, rows = m.w >> 22;
    const int k = 1 << log_k, r = lane >> log_k;
    const i64 first = unsigned(m.x);
    const bool writes = (lane & (k - 1)) == 0 && r < rows;
    i64 row = i64(m.z) + r;
    if (named && writes) row = __ldg(rowmap + unsigned(m.z) + r);
    const TA* a = data + first * 32 + lane;
    const unsigned char* d = index + i64(unsigned(m.y)) * 32;
    TY s;
    if (width == 0) s = slice_sum<unsigned char>(a, d + lane, base + first, steps, x);
    else if (width == 1) s = slice_sum<unsigned short>(a, reinterpret_cast<const unsigned short*>(d) + lane, base + first, steps, x);
    else s = slice_sum<unsigned int>(a, reinterpret_cast<const unsigned int*>(d) + lane, base + first, steps, x);
    for (int o = k >> 1; o; o >>= 1) s = add(s, shuffle_xor(s, o));
    if (writes) {
        if (row >= 0) y[row] = finished(s, y + row, alpha, beta, mode);
        else partial[-1 - row] = s;
    }
}
