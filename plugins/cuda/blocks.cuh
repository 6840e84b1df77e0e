// BSR: HEIGHT x WIDTH blocks, both known when compiling.
//
// A part of a warp, or several warps, owns a block row and reads its values front to back. A block is cut into units of RUN
// neighbouring values of one row (RUN divides WIDTH); lane p of a team of TEAM lanes takes the units p, p + TEAM, … (SLOTS of them) of
// every block its team meets, so each lane adds up SLOTS fixed rows and needs no index arithmetic inside the loop.
// GROUP lanes a block row hold TEAMS = GROUP / TEAM teams, which take blocks in turn; DEPTH blocks are in flight per lane.
// TAIL: the last blocks of a row come in one batch, not one after the other.
// WARPS > 1 (then GROUP is 32) cuts a long block row into that many equal parts.

#ifdef TEAMS
constexpr int UNITS = HEIGHT * WIDTH / RUN;
constexpr int GROUPS = BLOCK / (GROUP * WARPS);  // block rows per thread block
constexpr bool TREE = SLOTS == 1 && (TEAM & (TEAM - 1)) == 0 && TEAMS * TEAM == GROUP && UNITS == TEAM;

// N blocks of a lane; at the end of a row (LAST) some of them may lie behind it
template <int N, bool LAST> __device__ __forceinline__ void take(
    TY (&acc)[SLOTS], i64 k, const INDEX* __restrict__ indices, const TA* __restrict__ data, const TX* __restrict__ x,
    int p, i64 cols, i64 end) {
    TA a[N][SLOTS][RUN];
    TX xv[N][SLOTS][RUN];
    INDEX block[N];
#pragma unroll
    for (int n = 0; n < N; ++n)
        if (!LAST || k + n * TEAMS < end) block[n] = stream(indices + k + n * TEAMS);
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) {
            const int unit = p + s * TEAM;
            if ((UNITS % TEAM == 0 || unit < UNITS) && (!LAST || k + n * TEAMS < end))
                load_run<RUN, ALIGNED, true>(data + (k + n * TEAMS) * (HEIGHT * WIDTH) + unit * RUN, a[n][s]);
        }
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) {
            const int unit = p + s * TEAM;
            if ((UNITS % TEAM == 0 || unit < UNITS) && (!LAST || k + n * TEAMS < end)) {
                const i64 j = i64(block[n]) * WIDTH + unit * RUN % WIDTH;
#if EDGE
#pragma unroll
                for (int v = 0; v < RUN; ++v)
                    if (j + v < cols) xv[n][s][v] = reuse(x + j + v);
                    else xv[n][s][v] = ZERO(TX);
#else
                load_run<RUN, ALIGNED, false>(x + j, xv[n][s]);
#endif
            }
        }
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
        for (int s = 0; s < SLOTS; ++s)
            if ((UNITS % TEAM == 0 || p + s * TEAM < UNITS) && (!LAST || k + n * TEAMS < end)) {
#pragma unroll
                for (int v = 0; v < RUN; ++v) {
#if CONJ
                    a[n][s][v] = conjugate(a[n][s][v]);
#endif
                    madd(acc[s], a[n][s][v], xv[n][s][v]);
                }
            }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 block_rows, i64 rows, i64 cols, const i64* __restrict__ indptr, const INDEX* __restrict__ indices,
    const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, TY beta, int mode) {
    const int lane = threadIdx.x % GROUP, group = threadIdx.x / (GROUP * WARPS), part = threadIdx.x / GROUP % WARPS;
    const i64 row = i64(blockIdx.x) * GROUPS + group;
    const int team = lane / TEAM, p = lane % TEAM;
    TY acc[SLOTS];
#pragma unroll
    for (int s = 0; s < SLOTS; ++s) acc[s] = ZERO(TY);
    if (row < block_rows && team < TEAMS) {
        i64 k = __ldg(indptr + row), end = __ldg(indptr + row + 1);
        if (WARPS > 1) {
            const i64 share = (end - k + WARPS - 1) / WARPS, first = k + part * share;
            end = min(end, first + share);
            k = first;
        }
        k += team;
        for (; k + (DEPTH - 1) * TEAMS < end; k += DEPTH * TEAMS)
            take<DEPTH, false>(acc, k, indices, data, x, p, cols, end);
        if (TAIL) {
            if (k < end) take<DEPTH, true>(acc, k, indices, data, x, p, cols, end);
        } else {
            for (; k < end; k += TEAMS) take<1, false>(acc, k, indices, data, x, p, cols, end);
        }
    }
    if constexpr (TREE && WARPS == 1) {
        TY t = acc[0];
#pragma unroll
        for (int d = GROUP / 2; d >= TEAM; d /= 2) t = add(t, shuffle_xor(t, d));
#pragma unroll
        for (int d = WIDTH / RUN / 2; d >= 1; d /= 2) t = add(t, shuffle_xor(t, d));
        const int r = p / (WIDTH / RUN);
        const i64 i = row * HEIGHT + r;
        if (row < block_rows && team == 0 && p % (WIDTH / RUN) == 0 && (!EDGE || i < rows))
            y[i] = finished(t, y + i, alpha, beta, mode);
    } else {
        // the sums of one row lie with several lanes: one lane adds them up, always in the same order
        __shared__ TY sums[BLOCK][SLOTS];
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) sums[threadIdx.x][s] = acc[s];
        if (WARPS > 1) __syncthreads();
        else __syncwarp();
        if (row < block_rows && part == 0) {
            const int origin = group * GROUP * WARPS;
            for (int r = lane; r < HEIGHT; r += GROUP) {
                TY t = ZERO(TY);
#pragma unroll
                for (int w = 0; w < WARPS; ++w)
#pragma unroll
                    for (int q = 0; q < TEAMS; ++q)
#pragma unroll
                        for (int u = 0; u < WIDTH / RUN; ++u) {
                            const int unit = r * (WIDTH / RUN) + u;
                            t = add(t, sums[origin + w * GROUP + q * TEAM + unit % TEAM][unit / TEAM]);
                        }
                const i64 i = row * HEIGHT + r;
                if (!EDGE || i < rows) y[i] = finished(t, y + i, alpha, beta, mode);
            }
        }
    }
}
#endif

// any block size, read as run-time numbers: a warp per row of a block row
#ifdef ANY_SIZE
extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 block_rows, i64 rows, i64 cols, const i64* __restrict__ indptr, const INDEX* __restrict__ indices,
    const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, TY beta, int mode, int r_size,
    int c_size) {
    const i64 i = (i64(blockIdx.x) * BLOCK + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (i >= rows) return;
    const i64 row = i / r_size, start = indptr[row], count = (indptr[row + 1] - start) * c_size;
    const TA* a = data + start * r_size * c_size + (i - row * r_size) * c_size;
    TY t = ZERO(TY);
    for (i64 e = lane; e < count; e += 32) {
        const i64 k = e / c_size, c = e - k * c_size, j = i64(indices[start + k]) * c_size + c;
        if (j < cols) madd(t, matrix_value(a + k * r_size * c_size + c), reuse(x + j));
    }
#pragma unroll
    for (int d = 16; d >= 1; d /= 2) t = add(t, shuffle_xor(t, d));
    if (lane == 0) y[i] = finished(t, y + i, alpha, beta, mode);
}
#endif

// x is (cols, k) and y is (rows, k), both WIDTH-contiguous: a thread owns STRIP rows of one block row and COLS columns
#ifdef LANES
extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmm(
    i64 block_rows, i64 rows, i64 cols, const i64* __restrict__ indptr, const INDEX* __restrict__ indices,
    const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, TY beta, int mode, i64 k_cols,
    int run_time_r, int run_time_c) {
#ifdef HEIGHT
    constexpr int r_size = HEIGHT, c_size = WIDTH;
#else
    const int r_size = run_time_r, c_size = run_time_c;
#endif
    const i64 item = i64(blockIdx.x) * BLOCK + threadIdx.x;
    const i64 column = (i64(blockIdx.y) * LANES + item % LANES) * COLS, strip = item / LANES;
    const int strips = (r_size + STRIP - 1) / STRIP;
    const i64 row = strip / strips;
    const int r0 = int(strip - row * strips) * STRIP;
    if (row >= block_rows || column >= k_cols) return;
    TY acc[STRIP][COLS];
#pragma unroll
    for (int t = 0; t < STRIP; ++t)
#pragma unroll
        for (int w = 0; w < COLS; ++w) acc[t][w] = ZERO(TY);
    const i64 end = indptr[row + 1];
    for (i64 k = indptr[row]; k < end; ++k) {
        const i64 j = i64(__ldg(indices + k)) * c_size;
        const TA* a = data + k * r_size * c_size + r0 * c_size;
#pragma unroll
        for (int c = 0; c < c_size; ++c) {
            if (EDGE && j + c >= cols) break;
            TX xv[COLS];
            load_run<COLS, true, false>(x + (j + c) * k_cols + column, xv);
#pragma unroll
            for (int t = 0; t < STRIP; ++t)
                if (r_size % STRIP == 0 || r0 + t < r_size) {
                    TA value = kept_value(a + t * c_size + c);
#pragma unroll
                    for (int w = 0; w < COLS; ++w) madd(acc[t][w], value, xv[w]);
                }
        }
    }
#pragma unroll
    for (int t = 0; t < STRIP; ++t) {
        const i64 i = row * r_size + r0 + t;
        if (r0 + t < r_size && (!EDGE || i < rows)) {
            TY* out = y + i * k_cols + column;
#pragma unroll
            for (int w = 0; w < COLS; ++w) out[w] = finished(acc[t][w], out + w, alpha, beta, mode);
        }
    }
}
#endif
