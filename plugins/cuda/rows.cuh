// Formats that store rows: CSR, ELL, JAD and PJAD, read as they lie. They differ in where entry j of row i is.
//
// LAYOUT: 0 CSR (ptr = indptr), 1 ELL (stride = number of rows), 2 JAD and PJAD sorted over all rows (ptr = jd_ptr),
// 3 PJAD sorted inside windows (ptr = block_ptr; BSIZE is its bsize). Rows of 2 and 3 are sorted; row i is row perm[i] of A.
// Rows longer than `limit` are left to `segments` and `combine`: their pieces are summed apart, and the sums of the pieces
// added in a fixed order, so no row keeps one thread busy alone and no atomics are needed.

#define ROW_ARGS                                                                                                   \
    const TA *__restrict__ data, const INDEX *__restrict__ indices, const i64 *__restrict__ ptr,                    \
        const INDEX *__restrict__ rlen, const INDEX *__restrict__ perm, i64 stride
#define ROW_NAMES data, indices, ptr, rlen, perm, stride

__device__ __forceinline__ i64 row_length(i64 i, ROW_ARGS) {
    if constexpr (LAYOUT == 0) return __ldg(ptr + i + 1) - __ldg(ptr + i);
    else return __ldg(rlen + i);
}

__device__ __forceinline__ i64 row_origin(i64 i, ROW_ARGS) {
    if constexpr (LAYOUT == 0) return __ldg(ptr + i);
    else if constexpr (LAYOUT == 3) return __ldg(ptr + i / BSIZE) + i % BSIZE;
    else return i;
}

__device__ __forceinline__ i64 entry_of(i64 origin, i64 j, ROW_ARGS) {
    if constexpr (LAYOUT == 0) return origin + j;
    else if constexpr (LAYOUT == 2) return __ldg(ptr + j) + origin;
    else if constexpr (LAYOUT == 3) return origin + j * BSIZE;
    else return origin + j * stride;
}

__device__ __forceinline__ i64 row_of_a(i64 i, ROW_ARGS) {
    if constexpr (LAYOUT >= 2) return __ldg(perm + i);
    else return i;
}

// the entries first, first + step, … below end of one row against a vector; loads of a batch come before their first use
__device__ __forceinline__ TY dot(i64 origin, i64 first, i64 end, i64 step, const TX* __restrict__ x, ROW_ARGS) {
    constexpr int BATCH = 4;
    TY s[2] = {ZERO(TY), ZERO(TY)};
    for (i64 j = first; j < end; j += BATCH * step) {
        TA a[BATCH];
        INDEX c[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; ++u)
            if (j + u * step < end) {
                const i64 at = entry_of(origin, j + u * step, ROW_NAMES);
                c[u] = stream(indices + at);
                a[u] = matrix_value(data + at);
            }
#pragma unroll
        for (int u = 0; u < BATCH; ++u)
            if (j + u * step < end) madd(s[u % 2], a[u], reuse(x + c[u]));
    }
    return add(s[0], s[1]);
}

// SHARE threads a row, BLOCK / SHARE rows at a time in a thread block.
#ifdef SHARE
constexpr int ROWS = BLOCK / SHARE;

#if LAYOUT == 0
// CSR: a thread block owns rows that have at most CHUNK entries together, from starts[block] to starts[block + 1] (row and
// entry). It reads the entries front to back, whatever the lengths of the rows, and leaves the products in shared memory;
// then SHARE threads add up each row's part. A row of more than `limit` entries has a block to itself, which leaves it to
// `segments`.
extern "C" __global__ void __launch_bounds__(BLOCK) spmv(
    const longlong2* __restrict__ starts, i64 limit, ROW_ARGS, const TX* __restrict__ x, TY* __restrict__ y, TY alpha,
    TY beta, int mode) {
    constexpr int CHUNK = BLOCK * PER_THREAD;
    __shared__ TY products[CHUNK];
    const longlong2 from = __ldg(starts + blockIdx.x), to = __ldg(starts + blockIdx.x + 1);
    if (to.x - from.x == 1 && to.y - from.y > limit) {
#if ATOMIC
        if (threadIdx.x == 0) y[from.x] = finished(ZERO(TY), y + from.x, alpha, beta, mode & 2);
#endif
        return;
    }
    const int entries = int(to.y - from.y), local = threadIdx.x / SHARE, lane = threadIdx.x % SHARE;
    // where this thread's first row lies is asked for before it is needed
    i64 i = from.x + local;
    i64 begin = i < to.x ? __ldg(ptr + i) : 0, end = i < to.x ? __ldg(ptr + i + 1) : 0;
    const TA* values = data + from.y;
    const INDEX* columns = indices + from.y;
    TA a[PER_THREAD];
    INDEX c[PER_THREAD];
#pragma unroll
    for (int u = 0; u < PER_THREAD; ++u) {
        const int e = u * BLOCK + threadIdx.x;
        if (e < entries) {
            c[u] = stream(columns + e);
            a[u] = matrix_value(values + e);
        }
    }
#pragma unroll
    for (int u = 0; u < PER_THREAD; ++u) {
        const int e = u * BLOCK + threadIdx.x;
        if (e < entries) {
            TY product = ZERO(TY);
            madd(product, a[u], reuse(x + c[u]));
            products[e] = product;
        }
    }
    __syncthreads();
    for (i64 row = from.x; row < to.x; row += ROWS) {
        TY s = ZERO(TY);
        const int first = int(begin - from.y), last = int(end - from.y);
        if (i < to.x)
            for (int e = first + lane; e < last; e += SHARE) s = add(s, products[e]);
#pragma unroll
        for (int d = SHARE / 2; d >= 1; d /= 2) s = add(s, shuffle_xor(s, d));
        if (i < to.x && lane == 0) y[i] = finished(s, y + i, alpha, beta, mode);
        i += ROWS;
        if (i < to.x) begin = __ldg(ptr + i), end = __ldg(ptr + i + 1);
    }
}
#else
// The others: neighbouring threads take neighbouring rows, and SHARE slices of the thread block take entries in turn.
extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 rows, i64 limit, ROW_ARGS, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, TY beta, int mode) {
    const int local = threadIdx.x % ROWS, slice = threadIdx.x / ROWS;
    const i64 i = i64(blockIdx.x) * ROWS + local;
    bool mine = i < rows;
    TY s = ZERO(TY);
    if (mine) {
        const i64 length = row_length(i, ROW_NAMES);
        mine = length <= limit;
        if (mine) s = dot(row_origin(i, ROW_NAMES), slice, length, SHARE, x, ROW_NAMES);
    }
    if constexpr (SHARE > 1) {
        __shared__ TY sums[SHARE][ROWS];
        sums[slice][local] = s;
        __syncthreads();
        s = sums[0][local];
        for (int q = 1; q < SHARE; ++q) s = add(s, sums[q][local]);
    }
    if (mine && slice == 0) {
        TY* out = y + row_of_a(i, ROW_NAMES);
        *out = finished(s, out, alpha, beta, mode);
    }
}
#endif

// one thread block a piece of a long row: entries first[p] … first[p] + piece of row long_row[p]
extern "C" __global__ void __launch_bounds__(BLOCK, 1) segments(
    i64 piece, const i64* __restrict__ long_row, const i64* __restrict__ first, ROW_ARGS, const TX* __restrict__ x,
    TY* __restrict__ partial, TY alpha) {
    const i64 p = blockIdx.x, i = long_row[p];
    const i64 end = min(first[p] + piece, row_length(i, ROW_NAMES));
    TY s = dot(row_origin(i, ROW_NAMES), first[p] + threadIdx.x, end, BLOCK, x, ROW_NAMES);
    __shared__ TY sums[BLOCK / 32];
#pragma unroll
    for (int d = 16; d >= 1; d /= 2) s = add(s, shuffle_xor(s, d));
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; ++w) s = add(s, sums[w]);
#if ATOMIC
        TY scaled = ZERO(TY);
        madd(scaled, alpha, s);
        add_to(partial + i, scaled);  // partial is y, which spmv has scaled by beta
#else
        partial[p] = s;
#endif
    }
}
#endif

// x is (cols, k) and y is (rows, k), both C-contiguous: a thread owns COLS columns of one row
#ifdef LANES
__device__ __forceinline__ void dot_columns(
    TY (&s)[COLS], i64 origin, i64 first, i64 end, i64 step, i64 k_cols, const TX* __restrict__ x, ROW_ARGS) {
    constexpr int BATCH = 4;
    i64 j = first;
    for (; j + (BATCH - 1) * step < end; j += BATCH * step) {
        TA a[BATCH];
        TX xv[BATCH][COLS];
        INDEX c[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; ++u) {
            const i64 at = entry_of(origin, j + u * step, ROW_NAMES);
            c[u] = reuse(indices + at);
            a[u] = kept_value(data + at);
        }
#pragma unroll
        for (int u = 0; u < BATCH; ++u) load_run<COLS, true, false>(x + c[u] * k_cols, xv[u]);
#pragma unroll
        for (int u = 0; u < BATCH; ++u)
#pragma unroll
            for (int w = 0; w < COLS; ++w) madd(s[w], a[u], xv[u][w]);
    }
    for (; j < end; j += step) {
        const i64 at = entry_of(origin, j, ROW_NAMES);
        const TA a = kept_value(data + at);
        TX xv[COLS];
        load_run<COLS, true, false>(x + reuse(indices + at) * k_cols, xv);
#pragma unroll
        for (int w = 0; w < COLS; ++w) madd(s[w], a, xv[w]);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmm(
    i64 rows, i64 limit, ROW_ARGS, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, TY beta, int mode,
    i64 k_cols) {
    const i64 i = i64(blockIdx.x) * (BLOCK / LANES) + threadIdx.x / LANES;
    const i64 column = (i64(blockIdx.y) * LANES + threadIdx.x % LANES) * COLS;
    if (i >= rows || column >= k_cols) return;
    const i64 length = row_length(i, ROW_NAMES);
    if (length > limit) return;
    TY s[COLS];
#pragma unroll
    for (int w = 0; w < COLS; ++w) s[w] = ZERO(TY);
    dot_columns(s, row_origin(i, ROW_NAMES), 0, length, 1, k_cols, x + column, ROW_NAMES);
    TY* out = y + row_of_a(i, ROW_NAMES) * k_cols + column;
#pragma unroll
    for (int w = 0; w < COLS; ++w) out[w] = finished(s[w], out + w, alpha, beta, mode);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) segments(
    i64 piece, const i64* __restrict__ long_row, const i64* __restrict__ first, ROW_ARGS, const TX* __restrict__ x,
    TY* __restrict__ partial, i64 k_cols) {
    constexpr int SLICES = BLOCK / LANES;
    const i64 p = blockIdx.x, i = long_row[p];
    const i64 end = min(first[p] + piece, row_length(i, ROW_NAMES));
    const int lane = threadIdx.x % LANES, slice = threadIdx.x / LANES;
    const i64 column = (i64(blockIdx.y) * LANES + lane) * COLS;
    TY s[COLS];
#pragma unroll
    for (int w = 0; w < COLS; ++w) s[w] = ZERO(TY);
    if (column < k_cols)
        dot_columns(s, row_origin(i, ROW_NAMES), first[p] + slice, end, SLICES, k_cols, x + column, ROW_NAMES);
    __shared__ TY sums[COLS][BLOCK];
#pragma unroll
    for (int w = 0; w < COLS; ++w) sums[w][threadIdx.x] = s[w];
    __syncthreads();
    if (slice == 0 && column < k_cols) {
#pragma unroll
        for (int w = 0; w < COLS; ++w) {
            for (int q = 1; q < SLICES; ++q) s[w] = add(s[w], sums[w][q * LANES + lane]);
            partial[p * k_cols + column + w] = s[w];
        }
    }
}
#endif

// The transposed product by atomics: LANES_PER_ROW threads a row add its entries times one value of x to where they belong.
// The last bits differ from run to run. y has been scaled by beta before.
#ifdef LANES_PER_ROW
extern "C" __global__ void __launch_bounds__(BLOCK) scatter(
    i64 rows, ROW_ARGS, const TX* __restrict__ x, TY* __restrict__ y, TY alpha) {
    const i64 thread = i64(blockIdx.x) * BLOCK + threadIdx.x, i = thread / LANES_PER_ROW;
    if (i >= rows) return;
    TY scaled = ZERO(TY);
    madd(scaled, alpha, reuse(x + row_of_a(i, ROW_NAMES)));
    const i64 origin = row_origin(i, ROW_NAMES), length = row_length(i, ROW_NAMES);
#pragma unroll 4
    for (i64 j = thread % LANES_PER_ROW; j < length; j += LANES_PER_ROW) {
        const i64 at = entry_of(origin, j, ROW_NAMES);
        TY v = ZERO(TY);
        madd(v, matrix_value(data + at), scaled);
        add_to(y + stream(indices + at), v);
    }
}
#endif
