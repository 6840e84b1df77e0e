// C = A @ B of CSR or BSR matrices, Gustavson's way: row i of C is the sum of the rows of B that row i of A names.
// GROUP neighbouring threads own a row (a part of a warp, or all BLOCK threads of a block). Macros beside those of
// common.cuh, which also choose what is compiled: LIMITS (most columns of C's rows in each class but the last, rising)
// for `measure` and `classify`; TABLE (slots of a row's hash table in shared memory, 0: in global memory) and FILL for
// `pattern`; HEIGHT, INNER, WIDTH (blocks of A are HEIGHT x INNER, of B INNER x WIDTH) for the kernels of the values.

#define MEET() do { if (GROUP > 32) __syncthreads(); else __syncwarp(); } while (0)
#define SIZE (HEIGHT * WIDTH)

// the most that any group of this warp has to do, so that all its threads meet as often
template <class T> __device__ __forceinline__ T largest_of_warp(T mine) {
#pragma unroll
    for (int mask = GROUP; mask < 32; mask *= 2) mine = max(mine, shuffle_xor(mine, mask));
    return mine;
}

// Threads that share one row of B, as a logarithm: about as many as it has products, so that others take the next one.
__device__ __forceinline__ int log_lanes(i64 products, i64 entries) {
    int log = 2;
    while ((1 << log) < GROUP && (entries << log) < products) ++log;
    return log;
}

// What a row takes a warp: its products, and for each entry the wait for a row of B.
__device__ __forceinline__ i64 cost_of(i64 products, i64 entries) { return products + 8 * entries; }

#if defined(LIMITS)
// The products each row of C takes.
extern "C" __global__ void __launch_bounds__(BLOCK) measure(
    i64 rows, const i64* __restrict__ a_ptr, const INDEX* __restrict__ a_cols, const i64* __restrict__ b_ptr,
    i64* work) {
    const i64 row = (i64(blockIdx.x) * BLOCK + threadIdx.x) / GROUP;
    const int lane = threadIdx.x % GROUP;
    const i64 end = row < rows ? a_ptr[row + 1] : 0;
    i64 sum = 0;
    for (i64 k = row < rows ? a_ptr[row] + lane : 0; k < end; k += GROUP) {
        const i64 inner = i64(__ldg(a_cols + k));
        sum += __ldg(b_ptr + inner + 1) - __ldg(b_ptr + inner);
    }
#pragma unroll
    for (int mask = 1; mask < GROUP; mask *= 2) sum += shuffle_xor(sum, mask);
    if (row < rows && lane == 0) work[row] = sum;
}

// kind: the class of each row of C that has at most size columns. totals: for each limit, the rows of the classes
// behind it; then the largest size, the sum of all sizes, that of the last class, the largest cost of a row, that of
// all rows. A row with much work for its size is put in a class of more threads.
extern "C" __global__ void __launch_bounds__(BLOCK) classify(
    i64 rows, const i64* __restrict__ bound, i64 cols, i64 block_size, const i64* __restrict__ work,
    const i64* __restrict__ a_ptr, signed char* kind, i64* totals) {
    constexpr i64 limits[] = {LIMITS};
    constexpr int CLASSES = sizeof(limits) / sizeof(i64), FIGURES = CLASSES + 5;
    i64 figures[FIGURES] = {};
    for (i64 row = i64(blockIdx.x) * BLOCK + threadIdx.x; row < rows; row += i64(gridDim.x) * BLOCK) {
        const i64 size = min(bound[row], cols), last = limits[CLASSES - 1];
        const i64 weight = size > last ? size : min(max(size, work[row] / 16), last);
        const i64 cost = cost_of(work[row] * block_size, a_ptr[row + 1] - a_ptr[row]);
        int number = 0;
#pragma unroll
        for (int c = 0; c < CLASSES; ++c) {
            number += weight > limits[c];
            figures[c] += weight > limits[c];
        }
        kind[row] = number;
        figures[CLASSES] = max(figures[CLASSES], size);
        figures[CLASSES + 1] += size;
        if (number == CLASSES) figures[CLASSES + 2] += size;
        figures[CLASSES + 3] = max(figures[CLASSES + 3], cost);
        figures[CLASSES + 4] += cost;
    }
#pragma unroll
    for (int f = 0; f < FIGURES; ++f) {
        const bool largest = f == CLASSES || f == CLASSES + 3;
        i64 all = figures[f];
#pragma unroll
        for (int mask = 1; mask < 32; mask *= 2) {
            const i64 other = shuffle_xor(all, mask);
            all = largest ? max(all, other) : all + other;
        }
        if (threadIdx.x % 32) continue;
        if (largest) atomicMax(totals + f, all);
        else atomicAdd(reinterpret_cast<unsigned long long*>(totals + f), (unsigned long long)all);
    }
}
#endif

#if defined(TABLE)
__device__ __forceinline__ int swapped_in(int* slot, int old, int key) { return atomicCAS(slot, old, key); }
__device__ __forceinline__ i64 swapped_in(i64* slot, i64 old, i64 key) {
    typedef unsigned long long bits;
    return i64(atomicCAS(reinterpret_cast<bits*>(slot), bits(old), bits(key)));
}

// Whether this thread has put the column into the table of 1 << log slots, where it was missing; free slots hold -1.
__device__ __forceinline__ bool put_in(INDEX* table, int log, INDEX column) {
    const unsigned folded = unsigned(column) ^ unsigned(i64(column) >> 32) * 2246822507u;
    unsigned slot = folded * 2654435769u >> (32 - log);
    while (true) {
        INDEX seen = *static_cast<volatile INDEX*>(table + slot);  // most columns are there: no need of an atomic
        if (seen == -1) seen = swapped_in(table + slot, INDEX(-1), column);
        if (seen == -1) return true;
        if (seen == column) return false;
        slot = (slot + 1) & ((1u << log) - 1);
    }
}

// Bitonic sort of count (a power of two, the same in the whole warp) numbers in shared memory, by a group. Pairs at
// most 32 apart stay with one warp from step to step, so a block meets only around the other steps.
__device__ __forceinline__ void sort(INDEX* list, int count, int lane) {
    for (int width = 2; width <= count; width *= 2)
        for (int stride = width / 2; stride; stride /= 2) {
            for (int pair = lane; pair < count / 2; pair += GROUP) {
                const int low = 2 * pair - (pair & (stride - 1)), high = low + stride;
                const INDEX a = list[low], b = list[high];
                if ((a > b) == !(low & width)) {
                    list[low] = b;
                    list[high] = a;
                }
            }
            if (stride > 32 || (stride == 1 && width > 32)) MEET();  // this step, or the next one, goes across warps
            else __syncwarp();
        }
}

// Counts the different columns in each of the listed rows of C, of which there are at most bound, or (FILL) writes
// them: in order into c_cols, from c_ptr on; where the tables lie in global memory, in any order and as number in the
// list * cols + column into keys, from key_ptr on.
extern "C" __global__ void __launch_bounds__(BLOCK, 1) pattern(
    i64 count, const i64* __restrict__ rows, const i64* __restrict__ bound, const i64* __restrict__ work,
    const i64* __restrict__ a_ptr, const INDEX* __restrict__ a_cols, const i64* __restrict__ b_ptr,
    const INDEX* __restrict__ b_cols, i64 cols, i64* lengths, const i64* __restrict__ c_ptr, INDEX* c_cols,
    const i64* __restrict__ key_ptr, i64* keys, INDEX* tables, i64 room) {
    constexpr int ROWS = BLOCK / GROUP;
    __shared__ int found[ROWS];
    const int group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
#if TABLE
    __shared__ INDEX shared_tables[ROWS * TABLE];
    INDEX* table = shared_tables + group * TABLE;
#else
    INDEX* table = tables + i64(blockIdx.x) * room;
#endif
    for (i64 first = i64(blockIdx.x) * ROWS; first < count; first += i64(gridDim.x) * ROWS) {
        const i64 at = first + group;
        const bool active = at < count;
        const i64 row = rows[active ? at : 0], begin = a_ptr[row], end = active ? a_ptr[row + 1] : 0;
        int log = 3;
        for (const i64 most = min(bound[row], cols); (i64(7) << log) < 8 * most;) ++log;
        for (i64 slot = lane; slot < i64(1) << log; slot += GROUP) table[slot] = -1;
        if (lane == 0) found[group] = 0;
        MEET();
        const int lanes = log_lanes(work[row], end - begin);
        int mine = 0;
        for (i64 k = begin + (lane >> lanes); k < end; k += GROUP >> lanes) {
            const i64 inner = i64(__ldg(a_cols + k)), stop = __ldg(b_ptr + inner + 1);
            for (i64 j = __ldg(b_ptr + inner) + (lane & ((1 << lanes) - 1)); j < stop; j += 1 << lanes) {
                const INDEX column = __ldg(b_cols + j);
                const bool added = put_in(table, log, column);
#if TABLE || !FILL
                mine += added;
#else
                if (added) keys[key_ptr[at] + atomicAdd(found, 1)] = at * cols + i64(column);
#endif
            }
        }
#if !FILL
        if (mine) atomicAdd(found + group, mine);
        MEET();
        if (active && lane == 0) lengths[row] = found[group];
#elif TABLE
        MEET();
        INDEX held[TABLE / GROUP];  // the columns move to the front of the table
        mine = 0;
#pragma unroll
        for (int i = 0; i < TABLE / GROUP; ++i) {
            const int slot = i * GROUP + lane;
            held[i] = slot < 1 << log ? table[slot] : INDEX(-1);
            mine += held[i] != -1;
        }
        int place = atomicAdd(found + group, mine);
        MEET();
#pragma unroll
        for (int i = 0; i < TABLE / GROUP; ++i)
            if (held[i] != -1) table[place++] = held[i];
        const int length = found[group];
        int padded = 1;
        while (padded < length) padded *= 2;
        padded = largest_of_warp(padded);
        const i64 largest = sizeof(INDEX) == 4 ? 0x7fffffffll : 0x7fffffffffffffffll;
        for (int i = length + lane; i < padded; i += GROUP) table[i] = INDEX(largest);
        MEET();
        sort(table, padded, lane);
        for (int i = lane; i < length; i += GROUP) c_cols[c_ptr[row] + i] = table[i];
#endif
        MEET();
    }
}
#endif

#if defined(HEIGHT)
// Whether a row of C is added up in pieces: where it costs far more than limit.
__device__ __forceinline__ bool is_cut(i64 entries, i64 work, i64 length, i64 limit) {
    return cost_of(work * SIZE, entries) > 2 * limit && entries > 1 && length;
}
#endif

#if defined(PLACES)
// A number of values in a row of B or C: rows of B are no longer than those of C that they are added to.
#if PLACES
typedef int place_t;
#elif HEIGHT * WIDTH == 1
typedef INDEX place_t;
#else
typedef i64 place_t;
#endif

// Adds up the values of the listed rows of C that are not cut, or (PIECES) of all pieces, where rows names the row of
// each piece. Some threads of a group take one row of B, others the next ones at the same time, and they add in turns:
// the order is the same in every run. Sums of up to PLACES entries of C are kept in shared memory, else in out itself.
extern "C" __global__ void __launch_bounds__(BLOCK, 1) values(
    i64 count, const i64* __restrict__ rows, const i64* __restrict__ pieces, const i64* __restrict__ room,
    const i64* __restrict__ share, i64 limit, const i64* __restrict__ work, const i64* __restrict__ a_ptr,
    const INDEX* __restrict__ a_cols, const TA* __restrict__ a, const i64* __restrict__ b_ptr,
    const INDEX* __restrict__ b_cols, const TX* __restrict__ b, const i64* __restrict__ c_ptr,
    const INDEX* __restrict__ c_cols, TY* out) {
    const int group = threadIdx.x / GROUP, lane = threadIdx.x % GROUP;
    const i64 at = i64(blockIdx.x) * (BLOCK / GROUP) + group, row = rows[at < count ? at : 0], low = c_ptr[row];
    i64 begin = a_ptr[row];
    const INDEX entries = INDEX(a_ptr[row + 1] - begin);
    INDEX mine = entries;
    place_t length = place_t(c_ptr[row + 1] - low);
#if PIECES
    const INDEX part = INDEX(at - pieces[row]), start = part * INDEX(share[row]);
    begin += start;
    mine = min(INDEX(share[row]), entries - start);
    TY* result = out + (room[row] + i64(part) * length) * SIZE;
    const bool active = at < count;
#else
    TY* result = out + low * SIZE;
    const bool active = at < count && !is_cut(entries, work[row], length, limit);
#endif
    if (!active) mine = length = 0;
#if PLACES
    __shared__ INDEX shared_columns[BLOCK / GROUP * PLACES];
    __shared__ TY shared_sums[BLOCK / GROUP * PLACES * SIZE];
    INDEX* columns = shared_columns + group * PLACES;
    TY* sums = shared_sums + group * PLACES * SIZE;
    for (int i = lane; i < length; i += GROUP) columns[i] = c_cols[low + i];
#else
    const INDEX* __restrict__ columns = c_cols + low;
    TY* sums = result;
#endif
    for (place_t i = lane; i < length * SIZE; i += GROUP) sums[i] = ZERO(TY);
    const int log = largest_of_warp(log_lanes(work[row] * SIZE, entries));
    const int turns = GROUP >> log, turn = lane >> log;
    const INDEX longest = largest_of_warp(mine);
    MEET();
    for (INDEX k = 0; k < longest; k += GROUP) {
        i64 from = 0;  // each thread looks up one row of B
        place_t size = 0;
        if (k + lane < mine) {
            const i64 inner = i64(__ldg(a_cols + begin + k + lane));
            from = __ldg(b_ptr + inner);
            size = place_t(__ldg(b_ptr + inner + 1) - from) * SIZE;
        }
        const int steps = int(min(INDEX(GROUP), longest - k));
        for (int t = turn; t - turn < steps; t += turns) {
            const i64 first = __shfl_sync(0xffffffffu, from, t, GROUP);
            const place_t elements = __shfl_sync(0xffffffffu, size, t, GROUP);
            const TA* left = a + (begin + k + t) * (HEIGHT * INNER);
            for (place_t e = lane & ((1 << log) - 1); __any_sync(0xffffffffu, e < elements); e += 1 << log) {
                place_t place = 0;
                TY product = ZERO(TY);
                if (e < elements) {
                    const i64 j = first + e / SIZE;
                    const int r = int(e % SIZE) / WIDTH, q = int(e % WIDTH);
                    const INDEX column = __ldg(b_cols + j);
#pragma unroll
                    for (int i = 0; i < INNER; ++i)
                        madd(product, reuse(left + r * INNER + i), reuse(b + (j * INNER + i) * WIDTH + q));
                    for (place_t rest = length; rest > 1;) {  // the last entry not behind this column: it is there
                        const place_t half = rest / 2;
                        if (columns[place + half] <= column) place += half;
                        rest -= half;
                    }
                    place = place * SIZE + r * WIDTH + q;
                }
                for (int now = 0; now < turns; ++now) {
                    if (now == turn && e < elements) sums[place] = add(sums[place], product);
                    MEET();
                }
            }
        }
    }
#if PLACES
    for (int i = lane; i < length * SIZE; i += GROUP) result[i] = sums[i];
#endif
}
#elif defined(HEIGHT)
// For each row that is cut the number of pieces, the entries of A in each, and room for all in entries of C; else no
// pieces. Each piece has a row of its own to add up in, so there are few where that is long.
extern "C" __global__ void __launch_bounds__(BLOCK) cut(
    i64 rows, i64 limit, const i64* __restrict__ work, const i64* __restrict__ a_ptr, const i64* __restrict__ c_ptr,
    i64* pieces, i64* room, i64* share) {
    const i64 row = i64(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= rows) return;
    const i64 length = c_ptr[row + 1] - c_ptr[row], entries = a_ptr[row + 1] - a_ptr[row];
    i64 number = 0;
    if (is_cut(entries, work[row], length, limit)) {
        const i64 most = min(min(entries, cost_of(work[row] * SIZE, entries) / limit), 4 * work[row] / length);
        share[row] = (entries + most - 1) / most;
        number = (entries + share[row] - 1) / share[row];
    }
    pieces[row] = number;
    room[row] = number * length;
}

// Adds up the pieces of each row, one after the other; rows names the row of each piece, and the first of a row works.
extern "C" __global__ void __launch_bounds__(BLOCK) combine(
    const i64* __restrict__ rows, const i64* __restrict__ pieces, const i64* __restrict__ room,
    const i64* __restrict__ c_ptr, const TY* __restrict__ scratch, TY* c) {
    const i64 row = rows[blockIdx.x], number = pieces[row + 1] - pieces[row];
    if (pieces[row] != blockIdx.x) return;
    const i64 length = (c_ptr[row + 1] - c_ptr[row]) * SIZE;
    const TY* sums = scratch + room[row] * SIZE;
    for (i64 i = i64(blockIdx.y) * BLOCK + threadIdx.x; i < length; i += i64(gridDim.y) * BLOCK) {
        TY s = sums[i];
        for (i64 p = 1; p < number; ++p) s = add(s, sums[p * length + i]);
        c[c_ptr[row] * SIZE + i] = s;
    }
}
#endif
