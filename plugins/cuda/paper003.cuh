// The four BSR kernels of paper 003 (chapter 8), one thread block per block row, for comparison with `blocks.cuh`.
//
// VARIANT 0 row_major: threads walk the values in order, every product is added to shared memory by an atomic.
// 1 thread_private: every thread has sums of its own, reduced over the thread block at the end.
// 2 team: teams of HEIGHT * WIDTH threads take whole blocks; each thread adds up one position of the block.
// 3 vector_unrolled: ROWS_AT_ONCE rows of a block together in registers, added up by shuffles.

__device__ __forceinline__ void atomic_add(float* p, float v) { atomicAdd(p, v); }
__device__ __forceinline__ void atomic_add(double* p, double v) { atomicAdd(p, v); }
template <class T> __device__ __forceinline__ void atomic_add(cplx<T>* p, cplx<T> v) {
    atomicAdd(&p->re, v.re);
    atomicAdd(&p->im, v.im);
}

__device__ __forceinline__ TX entry_of(const TX* x, i64 j, i64 cols) { return !EDGE || j < cols ? reuse(x + j) : ZERO(TX); }

extern "C" __global__ void __launch_bounds__(BLOCK, 1) spmv(
    i64 block_rows, i64 rows, i64 cols, const i64* __restrict__ indptr, const INDEX* __restrict__ indices,
    const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, TY beta, int mode) {
    constexpr int SIZE = HEIGHT * WIDTH;
    __shared__ TY sums[HEIGHT];
    const i64 row = blockIdx.x;
    for (int r = threadIdx.x; r < HEIGHT; r += BLOCK) sums[r] = ZERO(TY);
    __syncthreads();
    const i64 first = indptr[row], last = indptr[row + 1];
    if constexpr (VARIANT == 0) {
        for (i64 e = first * SIZE + threadIdx.x; e < last * SIZE; e += BLOCK) {
            const i64 k = e / SIZE;
            const int in_block = int(e - k * SIZE);
            TY product = ZERO(TY);
            madd(product, matrix_value(data + e), entry_of(x, i64(indices[k]) * WIDTH + in_block % WIDTH, cols));
            atomic_add(&sums[in_block / WIDTH], product);
        }
    } else if constexpr (VARIANT == 1) {
        TY acc[HEIGHT];
        for (int r = 0; r < HEIGHT; ++r) acc[r] = ZERO(TY);
        for (i64 e = first * SIZE + threadIdx.x; e < last * SIZE; e += BLOCK) {
            const i64 k = e / SIZE;
            const int in_block = int(e - k * SIZE);
            madd(acc[in_block / WIDTH], matrix_value(data + e), entry_of(x, i64(indices[k]) * WIDTH + in_block % WIDTH, cols));
        }
        __shared__ TY partial[BLOCK / 32];
        for (int r = 0; r < HEIGHT; ++r) {
            TY s = acc[r];
            for (int d = 16; d >= 1; d /= 2) s = add(s, shuffle_xor(s, d));
            if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = s;
            __syncthreads();
            if (threadIdx.x == 0) {
                for (int w = 1; w < BLOCK / 32; ++w) s = add(s, partial[w]);
                sums[r] = s;
            }
            __syncthreads();
        }
    } else if constexpr (VARIANT == 2) {
        constexpr int TEAMS = BLOCK / SIZE;
        const int team = threadIdx.x / SIZE, worker = threadIdx.x % SIZE;
        if (team < TEAMS) {
            TY acc = ZERO(TY);
            for (i64 k = first + team; k < last; k += TEAMS)
                madd(acc, matrix_value(data + k * SIZE + worker), entry_of(x, i64(indices[k]) * WIDTH + worker % WIDTH, cols));
            atomic_add(&sums[worker / WIDTH], acc);
        }
    } else {
#pragma unroll
        for (int r0 = 0; r0 < HEIGHT; r0 += ROWS_AT_ONCE) {
            TY acc[ROWS_AT_ONCE];
#pragma unroll
            for (int r = 0; r < ROWS_AT_ONCE; ++r) acc[r] = ZERO(TY);
            for (i64 e = first * WIDTH + threadIdx.x; e < last * WIDTH; e += BLOCK) {
                const i64 k = e / WIDTH;
                const int c = int(e - k * WIDTH);
                const TX value = entry_of(x, i64(indices[k]) * WIDTH + c, cols);
#pragma unroll
                for (int r = 0; r < ROWS_AT_ONCE; ++r)
                    if (r0 + r < HEIGHT) madd(acc[r], matrix_value(data + k * SIZE + (r0 + r) * WIDTH + c), value);
            }
#pragma unroll
            for (int r = 0; r < ROWS_AT_ONCE; ++r)
                if (r0 + r < HEIGHT) {
#pragma unroll
                    for (int d = 16; d >= 1; d /= 2) acc[r] = add(acc[r], shuffle_xor(acc[r], d));
                    if (threadIdx.x % 32 == 0) atomic_add(&sums[r0 + r], acc[r]);
                }
        }
    }
    __syncthreads();
    for (int r = threadIdx.x; r < HEIGHT; r += BLOCK) {
        const i64 i = row * HEIGHT + r;
        if (!EDGE || i < rows) y[i] = finished(sums[r], y + i, alpha, beta, mode);
    }
}
