// C = A @ B of CSR or BSR matrices, Gustavson's way: row i of C is the sum of the rows of B that row i of A names.
// GROUP neighbouring threads own a row (a part of a warp, or all BLOCK threads of a block). Macros beside those of
// common.cuh: GROUP, BLOCK; TABLE (slots of a row's hash table in shared memory, 0: in global memory), FILL for
// `pattern`; HEIGHT, INNER, WIDTH (blocks of A are HEIGHT x INNER, of B INNER x WIDTH) for `values`.

#define ROWS_AT_ONCE (BLOCK / GROUP)
#define MEET() do { if (GROUP > 32) __syncthreads(); else __syncwarp(); } while (0)

__device__ __forceinline__ int swapped_in(int* slot, int old, int key) { return atomicCAS(slot, old, key); }
__device__ __forceinline__ i64 swapped_in(i64* slot, i64 old, i64 key) {
    return i64(atomicCAS(reinterpret_cast<unsigned long long*>(slot), (unsigned long long)old, (unsigned long long)key));
}

// the most that any group of this warp has to do, so that all its threads meet as often
__device__ __forceinline__ i64 longest_of_warp(i64 mine) {
#pragma unroll
    for (int mask = GROUP; mask < 32; mask *= 2) mine = max(mine, shuffle_xor(mine, mask));
    return mine;
}

#ifdef TABLE
// Counts the different columns in each of the listed rows of C, or (FILL) writes row * cols + column of each of them into
// keys, in any order inside a row. A slot of a hash table is free while it holds -1; tables have room for every column.
extern "C" __global__ void __launch_bounds__(BLOCK) pattern(
    i64 count, const i64* __restrict__ rows, const i64* __restrict__ a_ptr, const INDEX* __restrict__ a_cols,
    const i64* __restrict__ b_ptr, const INDEX* __restrict__ b_cols, i64 cols, i64* lengths,
    const i64* __restrict__ c_ptr, i64* keys, INDEX* tables, i64 table_size) {
#if TABLE
    __shared__ INDEX shared_tables[ROWS_AT_ONCE * TABLE];
#endif
    __shared__ int found[ROWS_AT_ONCE];
    const int group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    for (i64 first = i64(blockIdx.x) * ROWS_AT_ONCE; first < count; first += i64(gridDim.x) * ROWS_AT_ONCE) {
        const bool active = first + group < count;
        const i64 row = active ? rows[first + group] : 0;
#if TABLE
        INDEX* table = shared_tables + group * TABLE;
        const i64 size = TABLE;
#else
        INDEX* table = tables + i64(blockIdx.x) * table_size;
        const i64 size = table_size;
#endif
        for (i64 slot = lane; slot < size; slot += GROUP) table[slot] = -1;
        if (lane == 0) found[group] = 0;
        MEET();
        const i64 begin = active ? a_ptr[row] : 0, end = active ? a_ptr[row + 1] : 0, start = FILL && active ? c_ptr[row] : 0;
        for (i64 k = begin; k < end; ++k) {
            const i64 inner = i64(__ldg(a_cols + k)), stop = __ldg(b_ptr + inner + 1);
            for (i64 j = __ldg(b_ptr + inner) + lane; j < stop; j += GROUP) {
                const INDEX column = __ldg(b_cols + j);
                unsigned slot = (unsigned(column) * 2654435769u ^ unsigned(i64(column) >> 32)) & unsigned(size - 1);
                while (true) {
                    const INDEX seen = swapped_in(table + slot, INDEX(-1), column);
                    if (seen == -1) {  // this thread has put the column in
                        const int place = atomicAdd(found + group, 1);
                        if (FILL) keys[start + place] = row * cols + i64(column);
                        break;
                    }
                    if (seen == column) break;
                    slot = (slot + 1) & unsigned(size - 1);
                }
            }
        }
        MEET();
        if (!FILL && active && lane == 0) lengths[row] = found[group];
        MEET();
    }
}
#else
// Adds up the values of the listed rows of C, whose pattern is known and whose values are zero. The threads of a group
// take different entries of one row of B, and meet before the next one: every sum runs in the order of A's row.
extern "C" __global__ void __launch_bounds__(BLOCK) values(
    i64 count, const i64* __restrict__ rows, const i64* __restrict__ a_ptr, const INDEX* __restrict__ a_cols,
    const TA* __restrict__ a, const i64* __restrict__ b_ptr, const INDEX* __restrict__ b_cols, const TX* __restrict__ b,
    const i64* __restrict__ c_ptr, const INDEX* __restrict__ c_cols, TY* c) {
    const i64 at = (i64(blockIdx.x) * BLOCK + threadIdx.x) / GROUP;
    const int lane = threadIdx.x % GROUP;
    const i64 row = at < count ? rows[at] : 0, begin = a_ptr[row], mine = at < count ? a_ptr[row + 1] - begin : 0;
    const i64 longest = longest_of_warp(mine), low = c_ptr[row], high = c_ptr[row + 1];
    for (i64 k = 0; k < longest; ++k) {
        if (k < mine) {
            const i64 inner = i64(__ldg(a_cols + begin + k)), from = __ldg(b_ptr + inner);
            const i64 entries = (__ldg(b_ptr + inner + 1) - from) * (HEIGHT * WIDTH);
            const TA* left = a + (begin + k) * (HEIGHT * INNER);
            for (i64 e = lane; e < entries; e += GROUP) {
                const i64 j = from + e / (HEIGHT * WIDTH);
                const int r = int(e % (HEIGHT * WIDTH)) / WIDTH, q = int(e % WIDTH);
                const INDEX column = __ldg(b_cols + j);
                i64 place = low;  // the last entry that is not behind this column: it is there
                for (i64 left_over = high - low; left_over > 1;) {
                    const i64 half = left_over / 2;
                    if (__ldg(c_cols + place + half) <= column) place += half;
                    left_over -= half;
                }
                TY s = c[(place * HEIGHT + r) * WIDTH + q];
#pragma unroll
                for (int i = 0; i < INNER; ++i) madd(s, reuse(left + r * INNER + i), reuse(b + (j * INNER + i) * WIDTH + q));
                c[(place * HEIGHT + r) * WIDTH + q] = s;
            }
        }
        MEET();
    }
}
#endif
