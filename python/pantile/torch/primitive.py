"""One class for every operator: a kernel, the shape rule, and one derivative formula that eager autograd and compiled
code share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from .tensors import GraphTensors, core_of

_is_compiling = torch.compiler.is_compiling
_grad_enabled = torch.is_grad_enabled
_dispatch_modes = torch._C._len_torch_dispatch_stack
_transforms = torch._C._functorch.peek_interpreter_stack

Tensors = Sequence[Tensor | None]


def _plain(tensors: Tensors) -> bool:
    """Real tensors and no mode that wants to see operators: the kernel may be called directly."""
    for t in tensors:
        if t is not None and type(t) is not Tensor and type(t) is not Parameter:
            return False
    return _dispatch_modes() == 0 and _transforms() is None


class Primitive:
    """pantile::<name>(<tensors>, ptr, col, order, handle, <attributes>) -> <outputs> tensors.

    tensors, attributes: schema text, such as "Tensor x, Tensor? w". kernel(core, *tensors, *attributes) computes;
    shape(g, *tensors, *attributes) says the outputs' shapes; save(tensors, outputs, attributes) gives (tensors,
    anything else)
    to keep; backward(g, needs, saved, kept, attributes, gradients) returns a gradient per tensor, from these same
    primitives where
    it is to be differentiable again.

    Called in eager code it goes straight to the kernel (or through torch.autograd.Function when gradients are
    wanted): a custom
    operator costs tens of microseconds. Under tracing it is the custom operator.
    """

    def __init__(
        self,
        name: str,
        tensors: str,
        attributes: str,
        outputs: int,
        kernel: Callable[..., Any],
        shape: Callable[..., Any],
        save: Callable[..., tuple[Tensors, Any]] | None = None,
        backward: Callable[..., Tensors] | None = None,
    ) -> None:
        self.kernel = kernel
        self.count = count = len(tensors.split(","))
        result = "Tensor" if outputs == 1 else f"({', '.join(['Tensor'] * outputs)})"
        graph = "Tensor ptr, Tensor col, Tensor order, Tensor handle"
        schema = f"({tensors}, {graph}{', ' if attributes else ''}{attributes}) -> {result}"

        def run(*args: Any) -> Any:
            return kernel(core_of(GraphTensors(*args[count : count + 4])), *args[:count], *args[count + 4 :])

        def fake(*args: Any) -> Any:
            return shape(GraphTensors(*args[count : count + 4]), *args[:count], *args[count + 4 :])

        definition = torch.library.custom_op(f"pantile::{name}", run, mutates_args=(), schema=schema)
        definition.register_fake(fake)
        self.op = getattr(torch.ops.pantile, name).default
        self.function: Any = None
        if save is not None and backward is not None:
            self._differentiate(definition, outputs, save, backward)

    def _differentiate(
        self, definition: Any, outputs: int, save: Callable[..., Any], backward: Callable[..., Any]
    ) -> None:
        count, kernel = self.count, self.kernel

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, g: GraphTensors, attributes: tuple[Any, ...], *tensors: Tensor | None) -> Any:
                out = kernel(core_of(g), *tensors, *attributes)
                saved, ctx.kept = save(tensors, out if outputs > 1 else (out,), attributes)
                ctx.save_for_backward(*saved)
                ctx.g, ctx.attributes = g, attributes
                if outputs > 1:
                    ctx.mark_non_differentiable(*out[1:])
                return out

            @staticmethod
            def backward(ctx: Any, *gradients: Tensor) -> Any:
                needs = ctx.needs_input_grad[2:]
                return (None, None, *backward(ctx.g, needs, ctx.saved_tensors, ctx.kept, ctx.attributes, gradients))

        def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            attributes = inputs[count + 4 :]
            saved, ctx.kept = save(inputs[:count], output if outputs > 1 else (output,), attributes)
            ctx.save_for_backward(*saved, *inputs[count : count + 4])
            ctx.attributes = attributes
            if outputs > 1:
                ctx.mark_non_differentiable(*output[1:])

        def registered(ctx: Any, *gradients: Tensor) -> Any:
            *saved, ptr, col, order, handle = ctx.saved_tensors
            g = GraphTensors(ptr, col, order, handle)
            result = backward(g, ctx.needs_input_grad[:count], saved, ctx.kept, ctx.attributes, gradients)
            return (*result, None, None, None, None, *([None] * len(ctx.attributes)))

        self.function = Function
        definition.register_autograd(registered, setup_context=setup)

    def __call__(self, g: GraphTensors, tensors: Tensors, attributes: tuple[Any, ...]) -> Any:
        if not _is_compiling() and _plain(tensors):
            if _grad_enabled():
                for t in tensors:
                    if t is not None and t.requires_grad:
                        return self.function.apply(g, attributes, *tensors)
            return self.kernel(g.core if g.core is not None else core_of(g), *tensors, *attributes)
        return self.op(*tensors, g.ptr, g.col, g.order, g.handle, *attributes)
