"""The shortest way from tensors to the kernel, for small graphs, where a call is mostly Python: no dispatch, no
autograd, no checks that
the core makes anyway."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _core
from ..operands import F32, REDUCE
from .kernels import output
from .primitive import _dispatch_modes, _grad_enabled, _is_compiling, _transforms

_float32 = torch.float32
_autocast_on = torch.is_autocast_enabled
_spmm = _core.spmm
_threads = torch.get_num_threads


def spmm_now(core: _core.Graph, x: Any, w: Any, reduce: str) -> Tensor | None:
    """spmm of plain contiguous float32 tensors that want no gradient; None for anything else."""
    if (
        _is_compiling()
        or type(x) is not Tensor
        or x.dtype is not _float32
        or not x.is_cpu
        or _autocast_on("cpu")
        or not x.is_contiguous()
        or x.is_neg()
        or _dispatch_modes()
        or _transforms() is not None
        or reduce not in REDUCE
    ):
        return None
    wanted = x.requires_grad
    values = None
    if w is not None:
        if type(w) is not Tensor or w.dtype is not _float32 or not w.is_cpu or not w.is_contiguous() or w.is_neg():
            return None
        wanted = wanted or w.requires_grad
        dim = w.dim()
        if dim == 1:
            values = (w.data_ptr(), F32, w.shape[0], 1, 1)
        elif dim == 2:
            edges, heads = w.shape
            values = (w.data_ptr(), F32, edges, heads, heads)
        else:
            return None
    if wanted and _grad_enabled():
        return None
    shape = x.shape
    if len(shape) != 2:
        return None
    rows, cols = shape
    size = core.rows
    y = output((size, cols), _float32)
    _spmm(
        core,
        False,
        REDUCE[reduce],
        (x.data_ptr(), F32, rows, cols, cols),
        values,
        (y.data_ptr(), F32, size, cols, cols),
        _threads(),
    )
    return y
