// Runs CUDA C++ kernels on the CPU, one fiber per thread, so that their index arithmetic can be tested without a GPU.
// A warp's fibers meet at shuffles and __syncwarp, a block's at __syncthreads; a lane that is missing there is an error.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
#define __shared__ static

struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
struct float2 { float x, y; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) double2 { double x, y; };
template <class T> T __ldg(const T* p) {
    if (reinterpret_cast<size_t>(p) % alignof(T)) { std::fprintf(stderr, "misaligned load of %zu bytes\n", sizeof(T)); std::abort(); }
    return *p;
}
template <class T> T __ldcs(const T* p) { return __ldg(p); }
template <class T> void __stcs(T* p, T v) { *p = v; }
template <class T> T atomicAdd(T* p, T v) { const T old = *p; *p += v; return old; }
template <class T> T atomicCAS(T* p, T old, T v) { const T seen = *p; if (seen == old) *p = v; return seen; }
template <class T> T atomicMax(T* p, T v) { const T old = *p; if (v > old) *p = v; return old; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }

struct dim { unsigned x, y, z; };
static dim threadIdx, blockIdx, gridDim;

namespace emulator {
enum State { RUNNING, WARP, BLOCK, DONE };
struct Fiber { ucontext_t context; State state; unsigned char* stack; unsigned long long value[2]; };
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static int current;
static void (*body)();

inline void wait(State at) {
    fibers[current].state = at;
    swapcontext(&fibers[current].context, &scheduler);
}
inline void entry() {
    body();
    fibers[current].state = DONE;
    swapcontext(&fibers[current].context, &scheduler);
}
inline void fail(const char* what) { std::fprintf(stderr, "emulator: %s\n", what); std::abort(); }

inline void run_block(int threads, void (*kernel)()) {
    constexpr size_t STACK = 1 << 16;
    body = kernel;
    while (int(fibers.size()) < threads) fibers.push_back({{}, DONE, new unsigned char[STACK], {}});
    for (int t = 0; t < threads; ++t) {
        getcontext(&fibers[t].context);
        fibers[t].context.uc_stack.ss_sp = fibers[t].stack;
        fibers[t].context.uc_stack.ss_size = STACK;
        fibers[t].context.uc_link = nullptr;
        makecontext(&fibers[t].context, entry, 0);
        fibers[t].state = RUNNING;
    }
    for (int left = threads; left;) {
        for (int t = 0; t < threads; ++t)
            if (fibers[t].state == RUNNING) {
                current = t;
                threadIdx = {unsigned(t), 0, 0};
                swapcontext(&scheduler, &fibers[t].context);
            }
        left = 0;
        int at_block = 0;
        for (int t = 0; t < threads; ++t) {
            left += fibers[t].state != DONE;
            at_block += fibers[t].state == BLOCK;
        }
        if (left && at_block == left) {
            if (left != threads) fail("__syncthreads missed by threads that have ended");
            for (int t = 0; t < threads; ++t) fibers[t].state = RUNNING;
            continue;
        }
        bool moved = false;
        for (int w = 0; w < threads; w += 32) {
            int waiting = 0;
            for (int t = w; t < w + 32; ++t) waiting += fibers[t].state == WARP;
            if (waiting == 32) {
                for (int t = w; t < w + 32; ++t) fibers[t].state = RUNNING;
                moved = true;
            }
        }
        if (left && !moved) fail("a warp waits for lanes that never come");
    }
}
}  // namespace emulator

inline void __syncthreads() { emulator::wait(emulator::BLOCK); }
inline void __syncwarp() { emulator::wait(emulator::WARP); }
namespace emulator {
template <class T> T exchanged(T v, int source) {  // what this lane of the warp passes
    static_assert(sizeof(T) <= 8);
    const int me = current;
    std::memcpy(&fibers[me].value[0], &v, sizeof(T));
    wait(WARP);
    std::memcpy(&v, &fibers[(me & ~31) | source].value[0], sizeof(T));
    wait(WARP);
    return v;
}
}  // namespace emulator
template <class T> T __shfl_xor_sync(unsigned, T v, int mask) { return emulator::exchanged(v, (emulator::current ^ mask) & 31); }
template <class T> T __shfl_sync(unsigned, T v, int lane, int width) {
    const int me = emulator::current & 31;
    return emulator::exchanged(v, (me & ~(width - 1)) | (lane & (width - 1)));
}
inline bool __any_sync(unsigned, bool v) {
    const int first = emulator::current & ~31;
    emulator::fibers[emulator::current].value[0] = v;
    emulator::wait(emulator::WARP);
    bool any = false;
    for (int lane = 0; lane < 32; ++lane) any = any || emulator::fibers[first + lane].value[0];
    emulator::wait(emulator::WARP);
    return any;
}
