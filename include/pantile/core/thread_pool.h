#pragma once

#include <pantile/core/function_ref.h>
#include <cstdint>
#include <span>

namespace pantile {

/// One process-wide pool of parked workers. No nesting: a parallel call made from inside a share runs its shares one
/// after another in that thread. Restarts after fork(). Thread-safe; concurrent callers take turns. Rule of the house:
/// what a share computes may depend on its chunk of the input, never on how many threads run.

/// Threads that parallel work may use: the last set_num_threads, else PANTILE_NUM_THREADS, else OMP_NUM_THREADS, else
/// the CPUs this process may run on.
int num_threads();
/// n >= 1 fixes the number; n <= 0 goes back to the default.
void set_num_threads(int n);

/// From now on shares run on the OpenMP threads that GCC's runtime (libgomp) already has in this process, and not on a
/// pool of our own; a forked child goes back to its own. False, and nothing changes, where no such runtime is loaded.
/// For programs whose other work runs on those threads: after every parallel region they spin for milliseconds, and a
/// second pool would have to fight them for the cores.
bool borrow_openmp_threads();

/// Runs body(0) ... body(shares - 1), each exactly once, and returns when all are done. Share i runs on thread i %
/// num_threads() (of fewer threads where the system refuses to start them).
void run_shares(int shares, FunctionRef<void(int)> body);

/// Cuts [0, n) into fixed chunks of `grain` (the last may be shorter; the same for any thread count), gives each thread
/// one contiguous range of chunks, and calls body(begin, end) once per chunk.
void parallel_for(int64_t n, int64_t grain, FunctionRef<void(int64_t, int64_t)> body);

/// Gives each thread one contiguous range of items of about equal total cost. cost_prefix[i] is the cost of the items
/// before i: size items + 1, nondecreasing. Calls body(first, last) at most once per thread.
void parallel_by_cost(std::span<const int64_t> cost_prefix, FunctionRef<void(int64_t, int64_t)> body);

}  // namespace pantile
