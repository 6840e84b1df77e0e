// C <- alpha * A @ B + beta * C for matrices kept by diagonals; entry (i, i + offset) of each is flat[base + i].
//
// The launcher writes macros: TA, TX, TY (value types of A, B and C), CONJ_A, CONJ_B, and one of PRODUCT, TILE, ATOMIC.
// Bits of mode: 1 alpha is not 1, 2 beta is not 0 (only then the old C is read), 4 every diagonal owns a full row of C,
// whose slots outside the matrix are set to zero.

__device__ __forceinline__ i64 least(i64 a, i64 b) { return a < b ? a : b; }
__device__ __forceinline__ i64 most(i64 a, i64 b) { return a > b ? a : b; }

__device__ __forceinline__ TA value_a(const TA* p) {
#if CONJ_A
    return conjugate(reuse(p));
#else
    return reuse(p);
#endif
}

__device__ __forceinline__ TX value_b(const TX* p) {
#if CONJ_B
    return conjugate(reuse(p));
#else
    return reuse(p);
#endif
}

// Ours. A warp owns RUN * 32 rows of one diagonal of C; the WARPS warps of a block take neighbouring diagonals of the
// same rows. They walk through A's diagonals side by side, so what one of them loads is often in L1 for the next.
// Lanes look up 32 pairs at once and leave them in shared memory for the whole warp. No atomics, one write per entry.
#ifdef PRODUCT
struct alignas(16) Pair { i64 a, b; int lo, hi, pad0, pad1; };

extern "C" __global__ void __launch_bounds__(WARPS * 32) product(
    i64 rows, i64 inner, i64 cols, i64 count, i64 groups, const TA* __restrict__ a, const i64* __restrict__ a_base,
    const i64* __restrict__ a_offsets, const TX* __restrict__ b, const i64* __restrict__ b_base,
    const i64* __restrict__ offsets, const i64* __restrict__ ptr, const int* __restrict__ left,
    const int* __restrict__ right, TY* __restrict__ c, const i64* __restrict__ c_base, TY alpha, TY beta, int mode) {
    constexpr int SPAN = RUN * 32;
    __shared__ Pair pairs[WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const i64 tile = i64(blockIdx.x) / groups, d = (i64(blockIdx.x) - tile * groups) * WARPS + warp, first = tile * SPAN;
    if (d >= count) return;
    const i64 offset = __ldg(offsets + d), at = __ldg(c_base + d);
    const i64 low = most(i64(0), -offset), high = least(rows, cols - offset);
    const i64 last = least(first + SPAN, rows);
    if (first >= high || last <= low) {
        if (mode & 4)
            for (i64 i = first + lane; i < last; i += 32) c[at + i] = ZERO(TY);
        return;
    }
    TY acc[RUN];
#pragma unroll
    for (int r = 0; r < RUN; ++r) acc[r] = ZERO(TY);
    // rows of the tile that have an entry on this diagonal
    const int from = int(most(low - first, i64(0))), to = int(least(high - first, i64(SPAN)));
    for (i64 t0 = __ldg(ptr + d), end = __ldg(ptr + d + 1); t0 < end; t0 += 32) {
        const int n = int(least(end - t0, i64(32)));
        if (lane < n) {
            const int p = __ldg(left + t0 + lane), q = __ldg(right + t0 + lane);
            const i64 shift = __ldg(a_offsets + p);
            Pair pair;
            pair.a = __ldg(a_base + p) + first;
            pair.b = __ldg(b_base + q) + shift + first;
            pair.lo = int(most(i64(from), least(-shift - first, i64(SPAN))));
            pair.hi = int(least(i64(to), most(inner - shift - first, i64(0))));
            pair.pad0 = pair.pad1 = 0;
            pairs[warp][lane] = pair;
        }
        __syncwarp();
        for (int t = 0; t < n; ++t) {
            const Pair pair = pairs[warp][t];
            if (pair.lo >= pair.hi) continue;
            const TA* x = a + pair.a + lane;
            const TX* y = b + pair.b + lane;
            if (pair.lo == 0 && pair.hi == SPAN) {
                TA u[RUN];
                TX v[RUN];
#pragma unroll
                for (int r = 0; r < RUN; ++r) u[r] = value_a(x + r * 32), v[r] = value_b(y + r * 32);
#pragma unroll
                for (int r = 0; r < RUN; ++r) madd(acc[r], u[r], v[r]);
            } else {
#pragma unroll
                for (int r = 0; r < RUN; ++r) {
                    const int i = lane + r * 32;
                    if (i >= pair.lo && i < pair.hi) madd(acc[r], value_a(x + r * 32), value_b(y + r * 32));
                }
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int r = 0; r < RUN; ++r) {
        const int i = lane + r * 32;
        TY* target = c + at + first + i;
        if (i >= from && i < to) *target = finished(acc[r], target, alpha, beta, mode & 3);
        else if ((mode & 4) && first + i < rows) *target = ZERO(TY);
    }
}
#endif

// The paper's algorithm 1. A block owns T diagonals of C by T rows, a thread one entry. Tiles of A pass through shared
// memory, T diagonals at a time; the diagonal of B that matches is found in a dense list (-1 where there is none).
#ifdef TILE
extern "C" __global__ void __launch_bounds__(SIDE * SIDE) tile(
    i64 rows, i64 inner, i64 cols, i64 count, i64 groups, i64 a_count, const TA* __restrict__ a,
    const i64* __restrict__ a_base, const i64* __restrict__ a_offsets, const TX* __restrict__ b,
    const i64* __restrict__ b_base, const int* __restrict__ b_dense, const i64* __restrict__ offsets, TY* __restrict__ c,
    const i64* __restrict__ c_base, TY alpha, TY beta, int mode) {
    __shared__ TA values[SIDE][SIDE];
    __shared__ i64 shifts[SIDE];
    const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    const i64 block = i64(blockIdx.x) / groups, d = (i64(blockIdx.x) - block * groups) * SIDE + y, i = block * SIDE + x;
    const i64 offset = d < count ? __ldg(offsets + d) : 0;
    const bool mine = d < count && i < rows && i + offset >= 0 && i + offset < cols;
    TY sum = ZERO(TY);
    for (i64 k0 = 0; k0 < a_count; k0 += SIDE) {
        if (k0 + y < a_count) {
            const i64 shift = __ldg(a_offsets + k0 + y);
            if (x == 0) shifts[y] = shift;
            if (i < rows && i + shift >= 0 && i + shift < inner) values[y][x] = value_a(a + __ldg(a_base + k0 + y) + i);
        }
        __syncthreads();
        const int n = int(least(a_count - k0, i64(SIDE)));
        if (mine)
            for (int k = 0; k < n; ++k) {
                const i64 shift = shifts[k], j = i + shift, other = offset - shift;
                if (j < 0 || j >= inner || other <= -inner || other >= cols) continue;
                const int q = __ldg(b_dense + other + inner - 1);
                if (q >= 0) madd(sum, values[k][x], value_b(b + __ldg(b_base + q) + j));
            }
        __syncthreads();
    }
    if (mine) {
        TY* target = c + __ldg(c_base + d) + i;
        *target = finished(sum, target, alpha, beta, mode & 3);
    }
}
#endif

// The paper's algorithm 2. A thread owns one nonzero of A, finds its diagonal by bisection, and adds its products with
// every diagonal of B into C by atomics, so the last bits differ from run to run.
#ifdef ATOMIC
template <class S> __device__ __forceinline__ void add_to(S* p, S v) { atomicAdd(p, v); }
template <class S> __device__ __forceinline__ void add_to(cplx<S>* p, cplx<S> v) {
    atomicAdd(&p->re, v.re);
    atomicAdd(&p->im, v.im);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) scale(
    i64 rows, i64 cols, i64 groups, const i64* __restrict__ offsets, TY* __restrict__ c, const i64* __restrict__ c_base,
    TY beta, int mode) {
    const i64 d = i64(blockIdx.x) / groups, i = (i64(blockIdx.x) - d * groups) * BLOCK + threadIdx.x;
    const i64 j = i + __ldg(offsets + d);
    if (i >= rows || j < 0 || j >= cols) return;
    TY* target = c + __ldg(c_base + d) + i;
    TY t = ZERO(TY);
    if (mode & 2) madd(t, beta, *target);
    *target = t;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) atomic(
    i64 rows, i64 inner, i64 cols, i64 nonzeros, i64 a_count, i64 b_count, const i64* __restrict__ starts,
    const TA* __restrict__ a, const i64* __restrict__ a_base, const i64* __restrict__ a_offsets,
    const TX* __restrict__ b, const i64* __restrict__ b_base, const i64* __restrict__ b_offsets,
    const int* __restrict__ c_dense, TY* __restrict__ c, const i64* __restrict__ c_base, TY alpha, int mode) {
    const i64 e = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (e >= nonzeros) return;
    i64 p = 0;
    for (i64 high = a_count; high - p > 1;) {
        const i64 middle = (p + high) / 2;
        if (__ldg(starts + middle) <= e) p = middle;
        else high = middle;
    }
    const i64 shift = __ldg(a_offsets + p), i = most(i64(0), -shift) + e - __ldg(starts + p), k = i + shift;
    const TA x = value_a(a + __ldg(a_base + p) + i);
    for (i64 q = 0; q < b_count; ++q) {
        const i64 other = __ldg(b_offsets + q), j = k + other;
        if (j < 0 || j >= cols) continue;
        const int d = __ldg(c_dense + (j - i) + rows - 1);
        if (d < 0) continue;  // a diagonal that was not asked for: the other triangle
        TY v = ZERO(TY);
        madd(v, x, value_b(b + __ldg(b_base + q) + k));
        TY w = v;
        if (mode & 1) w = ZERO(TY), madd(w, alpha, v);
        add_to(c + __ldg(c_base + d) + i, w);
    }
}
#endif
