// PJAD with a block size per slice: a warp owns a slice of 32/k rows, k lanes a row. See lanes.py for the layout.
//
// Slice w is one int4: x the first step (a step is 32 values, one per lane), y the first index in units of 32 bytes,
// z where its rows are named, w = steps | log2(k) << 16 | width << 19 | named << 21 | rows << 22.
// Columns are stored relative to a base per step, in 1, 2 or 4 bytes (width 0, 1, 2); the largest value marks padding, which
// is skipped, so that NaN and infinity in x reach only the rows that have an entry there.
// WIDTHS says which widths occur (bits 0, 1, 2), so that the others are not compiled.
// Not named: the rows are z, z+1, …; named: rowmap[z], rowmap[z+1], …, where -1-p means piece p of a long row.

template <class D> __device__ __forceinline__ TY slice_sum(
    const TA* __restrict__ a, const D* __restrict__ d, const int* __restrict__ base, int steps, const TX* __restrict__ x) {
    constexpr D PADDING = D(-1);
    TY s[2] = {ZERO(TY), ZERO(TY)};
    for (int t = 0; t < steps; t += UNROLL) {
        // all loads of a batch before the first use; the last batch is short, the test is the same for the whole warp
        D dv[UNROLL];
        int bv[UNROLL];
        TA av[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            dv[u] = PADDING;
            bv[u] = 0;
            av[u] = ZERO(TA);
            if (t + u < steps) {
                dv[u] = stream(d + (t + u) * 32);
                bv[u] = __ldg(base + t + u);
                av[u] = matrix_value(a + (t + u) * 32);
            }
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (dv[u] != PADDING) madd(s[u % 2], av[u], reuse(x + bv[u] + i64(dv[u])));
    }
    return add(s[0], s[1]);
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
    TY s = ZERO(TY);
    if (WIDTHS == 1 || (WIDTHS & 1 && width == 0))
        s = slice_sum<unsigned char>(a, d + lane, base + first, steps, x);
    else if (WIDTHS == 2 || (WIDTHS & 2 && width == 1))
        s = slice_sum<unsigned short>(a, reinterpret_cast<const unsigned short*>(d) + lane, base + first, steps, x);
    else if (WIDTHS & 4)
        s = slice_sum<unsigned int>(a, reinterpret_cast<const unsigned int*>(d) + lane, base + first, steps, x);
    for (int o = k >> 1; o; o >>= 1) s = add(s, shuffle_xor(s, o));
    if (writes) {
        if (row >= 0) y[row] = finished(s, y + row, alpha, beta, mode);
        else partial[-1 - row] = s;
    }
}
