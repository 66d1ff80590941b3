#!/bin/sh
# GCC 12 takes a function whose only effect is a prefetch for a pure one and deletes its calls, silently. So the machine code is
# asked: every gather kernel must hold prefetches. Usage: prefetch_test.sh OBJDUMP LIBRARY
set -eu
"$1" -d --no-show-raw-insn "$2" | awk '
  / file format / { file = $1; sub(/:$/, "", file); sub(/\.cpp\.o$/, "", file) }
  /prefetch(t0|nta|t1|t2)|prfm/ { count[file]++ }
  END {
    split("spmm_sum spmm_sum_storage spmm_general spmm_extreme spmm_arg spmm_arg_grad gcn roofline", kernels, " ")
    for (i in kernels) {
      printf "%s: %d prefetches\n", kernels[i], count[kernels[i]]
      if (count[kernels[i]] < 20) bad = 1
    }
    exit bad
  }'
