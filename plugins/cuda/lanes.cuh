// PJAD with a block size per slice: a warp owns a slice of 32/k rows, k lanes a row. See lanes.py for the layout.
//
// Slice w is one int4: x the first step (a step is 32 values, one per lane), y the first index in units of 32 bytes,
// z where its rows are named, w = steps | log2(k) << 16 | width << 19 | named << 21 | rows << 22.
// Columns are stored relative to a base per step, in 1, 2 or 4 bytes (width 0, 1, 2); the largest value marks padding, which
// is skipped, so that NaN and infinity in x reach only the rows that have an entry there.
// STEPS > 0: all slices have that many steps, 2^LOG_K lanes a row, one width and rows in their own order, so that nothing
// needs to be read to know where they are.
// WIDTHS says which widths occur (bits 0, 1, 2), so that the others are not compiled.
// Not named: the rows are z, z+1, …; named: rowmap[z], rowmap[z+1], …, where -1-p means piece p of a long row.

// UNROLL steps of a lane: value, column and base of each
template <class D> struct Batch {
    static constexpr D PADDING = D(-1);
    TA a[UNROLL];
    D d[UNROLL];
    int base[UNROLL];

    // the last batch of a slice is short; the test is the same for the whole warp
    __device__ __forceinline__ void load(const TA* values, const D* columns, const int* bases, int t, int steps) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            d[u] = PADDING;
            base[u] = 0;
            a[u] = ZERO(TA);
            if (t + u < steps) {
                d[u] = stream(columns + (t + u) * 32);
                base[u] = __ldg(bases + t + u);
                a[u] = matrix_value(values + (t + u) * 32);
            }
        }
    }

    __device__ __forceinline__ void add_to(TY (&s)[2], const TX* x) const {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (d[u] != PADDING) madd(s[u % 2], a[u], reuse(x + base[u] + i64(d[u])));
    }
};

// AHEAD: the next batch is loaded before this one is used
template <class D> __device__ __forceinline__ TY slice_sum(
    const TA* __restrict__ a, const D* __restrict__ d, const int* __restrict__ base, int steps, const TX* __restrict__ x) {
    TY s[2] = {ZERO(TY), ZERO(TY)};
    Batch<D> batch;
    if (!AHEAD) {
        for (int t = 0; t < steps; t += UNROLL) {
            batch.load(a, d, base, t, steps);
            batch.add_to(s, x);
        }
    } else {
        batch.load(a, d, base, 0, steps);
        for (int t = UNROLL; t < steps; t += UNROLL) {
            Batch<D> next;
            next.load(a, d, base, t, steps);
            batch.add_to(s, x);
            batch = next;
        }
        batch.add_to(s, x);
    }
    return add(s[0], s[1]);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 slices, const int4* __restrict__ slice, const int* __restrict__ rowmap, const int* __restrict__ base,
    const unsigned char* __restrict__ index, const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y,
    TY* __restrict__ partial, TY alpha, TY beta, int mode, i64 matrix_rows) {
    const i64 w = (i64(blockIdx.x) * BLOCK + threadIdx.x) / 32;
    if (w >= slices) return;
    const int lane = threadIdx.x % 32;
#if STEPS
    constexpr int steps = STEPS, log_k = LOG_K, k = 1 << LOG_K, width = WIDTHS / 2;
    const int r = lane >> log_k;
    const i64 first = w * STEPS, row = w * (32 >> LOG_K) + r;
    const bool writes = (lane & (k - 1)) == 0 && row < matrix_rows;
    const unsigned char* d = index + (first << width) * 32;
#else
    const int4 m = __ldg(slice + w);
    const int steps = m.w & 0xffff, log_k = m.w >> 16 & 7, width = m.w >> 19 & 3, named = m.w >> 21 & 1, rows = m.w >> 22;
    const int k = 1 << log_k, r = lane >> log_k;
    const i64 first = unsigned(m.x);
    const bool writes = (lane & (k - 1)) == 0 && r < rows;
    i64 row = i64(m.z) + r;
    if (named && writes) row = __ldg(rowmap + unsigned(m.z) + r);
    const unsigned char* d = index + i64(unsigned(m.y)) * 32;
#endif
    const TA* a = data + first * 32 + lane;
    TY s = ZERO(TY);
    if (WIDTHS == 1 || (WIDTHS & 1 && width == 0))
        s = slice_sum<unsigned char>(a, d + lane, base + first, steps, x);
    else if (WIDTHS == 2 || (WIDTHS & 2 && width == 1))
        s = slice_sum<unsigned short>(a, reinterpret_cast<const unsigned short*>(d) + lane, base + first, steps, x);
    else if (WIDTHS & 4)
        s = slice_sum<unsigned int>(a, reinterpret_cast<const unsigned int*>(d) + lane, base + first, steps, x);
    for (int o = k >> 1; o; o >>= 1) s = add(s, shuffle_xor(s, o));
    if (writes) {
        if (STEPS || row >= 0) y[row] = finished(s, y + row, alpha, beta, mode);
        else partial[-1 - row] = s;
    }
}
