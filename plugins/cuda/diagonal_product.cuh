// C <- alpha * A @ B + beta * C for matrices kept by diagonals; entry (i, i + offset) of each is flat[base + i].
//
// The launcher writes macros: TA, TX, TY (value types of A, B and C), CONJ_A, CONJ_B, and one of PRODUCT, TILE, ATOMIC.
// Bits of mode: 1 alpha is not 1, 2 beta is not 0 (only then the old C is read).

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

// Ours. A warp owns RUN * 32 rows of DIAGS neighbouring diagonals of C, the sums in registers; the WARPS warps of a
// block take neighbouring diagonals of the same rows. A warp walks through its pairs in the order of A's diagonals, so that
// what it has loaded of A serves all its diagonals that need it, and what it loads is often in L1 from its neighbours.
// Lanes look up 32 pairs at once and leave them in shared memory for the whole warp. No atomics, one write per entry.
#ifdef PRODUCT
// The tables come by one pointer, and alpha and beta only where SCALED asks for them: what a call costs on the host grows
// with the number of arguments. A pair gives a[a + i] * b[b + i] to row i of the warp's diagonal hi_and_member % 8, for
// lo <= i < hi_and_member / 8.
struct alignas(16) Pair { i64 a, b, lo, hi_and_member; };
struct Tables {
    i64 rows, cols, count, groups;
    const Pair* pairs;
    const i64* ptr;      // where the pairs of each warp begin
    const i64* offsets;  // of C's diagonals
    const i64* base;     // and where C keeps them
    i64 whole;           // every diagonal has a row of C to itself, whose slots outside the matrix are set to zero
};
constexpr int BLOCKS = WARPS > 8 || sizeof(TY) > 8 ? 1 : 28 / WARPS;  // a multiprocessor holds at least so many
struct alignas(16) Step { i64 a, b; int lo, hi, member, unused; };

template <class T> __device__ __forceinline__ void put(T* p, T v) {
#if STREAM
    __stcs(p, v);
#else
    *p = v;
#endif
}
template <class T> __device__ __forceinline__ void put(cplx<T>* p, cplx<T> v) { *p = v; }

// acc[member] += u * v; registers need a number known when this is compiled, so every member is asked
__device__ __forceinline__ void add_products(
    TY (&acc)[DIAGS][RUN], int member, const TA (&u)[RUN], const TX (&v)[RUN]) {
#pragma unroll
    for (int d = 0; d < DIAGS; ++d)
        if (DIAGS == 1 || member == d) {
#pragma unroll
            for (int r = 0; r < RUN; ++r) madd(acc[d][r], u[r], v[r]);
        }
}

extern "C" __global__ void __launch_bounds__(WARPS * 32, BLOCKS) product(
    const Tables* __restrict__ tables, const TA* __restrict__ a, const TX* __restrict__ b, TY* __restrict__ c
#if SCALED
    , TY alpha, TY beta, int mode
#endif
) {
    const Tables of = *tables;
    constexpr int SPAN = RUN * 32;
    __shared__ Step steps[WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned tile = blockIdx.x / unsigned(of.groups), part = blockIdx.x - tile * unsigned(of.groups);
    const i64 group = i64(part) * WARPS + warp, first = i64(tile) * SPAN, d0 = group * DIAGS;
    if (d0 >= of.count) return;
    const int members = int(least(of.count - d0, i64(DIAGS)));
    const i64 last = least(first + SPAN, of.rows);
    // offsets rise, so the first diagonal begins last and the last one ends first
    const i64 low = most(i64(0), -__ldg(of.offsets + d0 + members - 1));
    const i64 high = least(of.rows, of.cols - __ldg(of.offsets + d0));
    TY acc[DIAGS][RUN];
#pragma unroll
    for (int d = 0; d < DIAGS; ++d)
#pragma unroll
        for (int r = 0; r < RUN; ++r) acc[d][r] = ZERO(TY);
    const i64 begin = __ldg(of.ptr + group), end = first < high && last > low ? __ldg(of.ptr + group + 1) : begin;
    for (i64 t0 = begin; t0 < end; t0 += 32) {
        const int n = int(least(end - t0, i64(32)));
        if (lane < n) {
            const longlong2* source = reinterpret_cast<const longlong2*>(of.pairs + t0 + lane);
            const longlong2 at = __ldg(source), range = __ldg(source + 1);
            Step step;
            step.a = at.x + first;
            step.b = at.y + first;
            step.lo = int(most(range.x - first, i64(0)));
            step.hi = int(most(least((range.y >> 3) - first, i64(SPAN)), i64(0)));
            step.lo = step.lo < SPAN ? step.lo : SPAN;
            step.member = int(range.y & 7);
            step.unused = 0;
            steps[warp][lane] = step;
        }
        __syncwarp();
        TA u[RUN];  // the rows of A at `loaded`
        i64 loaded = 0;
        bool any = false;
        for (int t = 0; t < n; ++t) {
            const Step step = steps[warp][t];
            const TX* y = b + step.b + lane;
            if (step.hi - step.lo == SPAN) {
                if (!any || loaded != step.a) {
#pragma unroll
                    for (int r = 0; r < RUN; ++r) u[r] = value_a(a + step.a + lane + r * 32);
                    loaded = step.a, any = true;
                }
                TX v[RUN];
#pragma unroll
                for (int r = 0; r < RUN; ++r) v[r] = value_b(y + r * 32);
                add_products(acc, step.member, u, v);
            } else if (step.lo < step.hi) {
#pragma unroll
                for (int r = 0; r < RUN; ++r) {
                    const int i = lane + r * 32;
                    if (i >= step.lo && i < step.hi) {
                        const TA w = value_a(a + step.a + i);
                        const TX v = value_b(y + r * 32);
#pragma unroll
                        for (int d = 0; d < DIAGS; ++d)
                            if (DIAGS == 1 || step.member == d) madd(acc[d][r], w, v);
                    }
                }
            }
        }
        __syncwarp();
    }
#pragma unroll
    for (int d = 0; d < DIAGS; ++d) {
        if (d >= members) break;
        const i64 offset = __ldg(of.offsets + d0 + d), at = __ldg(of.base + d0 + d);
        const i64 from = most(i64(0), -offset), to = least(of.rows, of.cols - offset);
#pragma unroll
        for (int r = 0; r < RUN; ++r) {
            const i64 i = first + lane + r * 32;
            TY* target = c + at + i;
#if SCALED
            if (i >= from && i < to) put(target, finished(acc[d][r], target, alpha, beta, mode));
#else
            if (i >= from && i < to) put(target, acc[d][r]);
#endif
            else if (of.whole && i < of.rows) put(target, ZERO(TY));
        }
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
        *target = finished(sum, target, alpha, beta, mode);
    }
}
#endif

// The paper's algorithm 2. A thread owns one nonzero of A, finds its diagonal by bisection, and adds its products with
// every diagonal of B into C by atomics, so the last bits differ from run to run.
#ifdef ATOMIC
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
