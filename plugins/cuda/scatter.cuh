// A.T @ x of BSR by atomics: a warp owns a block row, a lane one column of a block at a time. Its sum over the block's rows
// takes one atomic addition. The last bits differ from run to run. y has been scaled by beta before.
extern "C" __global__ void __launch_bounds__(BLOCK) scatter(
    i64 block_rows, i64 rows, i64 cols, const i64* __restrict__ ptr, const INDEX* __restrict__ indices,
    const TA* __restrict__ data, const TX* __restrict__ x, TY* __restrict__ y, TY alpha, int height, int width) {
    const i64 row = (i64(blockIdx.x) * BLOCK + threadIdx.x) / 32;
    if (row >= block_rows) return;
    const i64 begin = __ldg(ptr + row), columns = (__ldg(ptr + row + 1) - begin) * width;
    const i64 top = row * height;
    const int inside = int(min(i64(height), rows - top));
    for (i64 k = threadIdx.x % 32; k < columns; k += 32) {
        const i64 block = begin + k / width;
        const int w = int(k % width);
        const i64 column = i64(stream(indices + block)) * width + w;
        if (EDGE && column >= cols) continue;
        const TA* values = data + block * height * width + w;
        TY s = ZERO(TY), scaled = ZERO(TY);
        for (int r = 0; r < inside; ++r) madd(s, matrix_value(values + i64(r) * width), reuse(x + top + r));
        madd(scaled, alpha, s);
        add_to(y + column, scaled);
    }
}
