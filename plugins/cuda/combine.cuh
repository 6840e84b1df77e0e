// Adds up the pieces of long rows: row target[q] of y is the sum of partial[ptr[q] … ptr[q+1]-1], for each of k columns.
// A warp per (row, column); the order of the additions is fixed, so the result is the same in every run.
extern "C" __global__ void __launch_bounds__(BLOCK, 1) combine(
    i64 count, i64 k_cols, const i64* __restrict__ target, const i64* __restrict__ ptr, const TY* __restrict__ partial,
    TY* __restrict__ y, TY alpha, TY beta, int mode) {
    const i64 item = (i64(blockIdx.x) * BLOCK + threadIdx.x) / 32;
    if (item >= count * k_cols) return;
    const i64 q = item / k_cols, column = item - q * k_cols;
    const int lane = threadIdx.x % 32;
    TY s = ZERO(TY);
    for (i64 p = ptr[q] + lane; p < ptr[q + 1]; p += 32) s = add(s, partial[p * k_cols + column]);
#pragma unroll
    for (int d = 16; d >= 1; d /= 2) s = add(s, shuffle_xor(s, d));
    if (lane == 0) {
        TY* out = y + target[q] * k_cols + column;
        *out = finished(s, out, alpha, beta, mode);
    }
}
