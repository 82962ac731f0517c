"""Calls of Python functions from compiled code, by their address: for values that no kernel computes.

A called function takes the address of its arguments, one double each, and gives a double; NaN is null.
"""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable

C_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.POINTER(ctypes.c_double))


def called(address: int, stack: np.ndarray, first: int) -> float:
    """What the function at an address gives for the arguments from `stack[first]` on."""
    arguments = stack[first:].ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    return float(C_FUNCTION(int(address))(arguments))


@type_callable(called)
def _type_of_call(context: Any) -> Any:
    return lambda address, stack, first: types.float64


@lower_builtin(called, types.Integer, types.Array, types.Integer)
def _compiled_call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    address, stack, first = args
    double = ir.DoubleType()
    data = context.make_array(signature.args[1])(context, builder, stack).data
    function = builder.inttoptr(address, ir.FunctionType(double, [double.as_pointer()]).as_pointer())
    return builder.call(function, [builder.gep(data, [first])])
