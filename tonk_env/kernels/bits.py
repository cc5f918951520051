"""Bit arithmetic and counter-based random numbers: the one JIT switch and the few operations everything else is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
import numpy as np
from numba import types
from numba.core.compiler import Compiler
from numba.extending import intrinsic

COMPILED = not numba.config.DISABLE_JIT

F = TypeVar("F", bound=Callable[..., Any])


def _stamp() -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of every file that compiled code is made from."""
    package = Path(__file__).parents[1]
    files = sorted(package.glob("kernels/*.py")) + [package / f"{name}.py" for name in ("state", "actions", "cards", "spreads")]
    return tuple((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)


STAMP = _stamp()


def _compile(function: F, **options: Any) -> F:
    """Compile with a cache on disk that is thrown away when any of the files above changes.

    Numba looks at the file of the function alone; a kernel that calls another, or reads a record whose dtype has changed,
    would run old code on new data.
    """
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = STAMP
    return compiled  # type: ignore[no-any-return]


class _PartCompiler(Compiler):
    """Compiles a kernel that only kernels call: its code is optimised and emitted once, inside what Python calls.

    Left alone, Numba would link, optimise and emit every kernel on its own, each with everything it calls.
    """

    def define_pipelines(self) -> Any:
        """The usual passes, for a library that leaves the last work to whoever links it."""
        state = self.state
        state.flags.no_compile = True
        state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        state.library._optimize_final_module = lambda: None
        # Never handed to the engine: it would emit the part as it stands and link callers to that copy, not to their own.
        state.library._finalize_final_module = lambda library=state.library: setattr(library, "_finalized", True)
        return super().define_pipelines()


def _part(function: F, **options: Any) -> F:
    """Compile as part of other kernels. Only what Python calls is kept on disk, whole. Python cannot call a part."""
    compiled = numba.njit(
        error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_PartCompiler, **options
    )(function)

    def add_overload(part: Any) -> None:
        """Note what was compiled under a name of its own, for kernels that call it."""
        part = part._replace(entry_point=object())
        compiled.targetctx.insert_user_function(part.entry_point, part.fndesc, [part.library])
        compiled.overloads[tuple(part.signature.args)] = part

    compiled.add_overload = add_overload
    return compiled  # type: ignore[no-any-return]


def jit(function: F) -> F:
    """Compile a kernel that Python calls, kept on disk between processes."""
    return _compile(function)


def kernel(function: F) -> F:
    """Compile a kernel that only kernels call: no wrapper for Python, which saves a good part of compiling."""
    return _part(function)


def small(function: F) -> F:
    """Compile a kernel that LLVM puts into its callers: a call that passes an array costs more than the work."""
    return _part(function, forceinline=True)


def inline(function: F) -> F:
    """Compile a small kernel into its callers."""
    return _part(function, inline="always")


def _gathers_bits() -> bool:
    """Whether the processor moves the bits of a mask in one instruction (BMI2), and fast: not on AMD's before Zen 3."""
    if numba.config.CPU_NAME or numba.config.CPU_FEATURES or not llvmlite.binding.get_process_triple().startswith("x86_64"):
        return False
    slow = ("znver1", "znver2", "bdver4")
    return bool(llvmlite.binding.get_host_cpu_features().get("bmi2")) and llvmlite.binding.get_host_cpu_name() not in slow


GATHERS_BITS = COMPILED and _gathers_bits()


def _bmi2(name: str) -> Any:
    """An instruction of BMI2 as a function of two 64-bit words."""

    @intrinsic
    def instruction(typingctx: Any, x: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            word = ir.IntType(64)
            call = builder.module.declare_intrinsic(f"llvm.x86.bmi.{name}.64", fnty=ir.FunctionType(word, [word, word]))
            return builder.call(call, args)

        return types.uint64(types.uint64, types.uint64), codegen

    return instruction


if COMPILED:
    pext, pdep = _bmi2("pext"), _bmi2("pdep")

    @intrinsic
    def popcount(typingctx: Any, x: Any) -> Any:
        """Number of set bits."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), codegen

    @intrinsic
    def lowest(typingctx: Any, x: Any) -> Any:
        """Index of the lowest set bit; 64 for an empty set."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

    @intrinsic
    def row_of(typingctx: Any, array: Any, index: Any) -> Any:
        """Where a row of a C-contiguous array begins: an address. A view would be counted, which costs more than writing it."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            parts = context.make_array(signature.args[0])(context, builder, args[0])
            stride = builder.extract_value(parts.strides, 0)
            start = builder.ptrtoint(parts.data, ir.IntType(64))
            return builder.add(start, builder.mul(stride, args[1]))

        return types.int64(array, types.int64), codegen

    @intrinsic
    def store_bits(typingctx: Any, row: Any, at: Any, bits: Any) -> Any:
        """Write 64 bits as 64 bytes of 0 and 1 from byte ``at`` of a row, unchecked: one vector store."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            lanes = builder.zext(builder.bitcast(args[2], ir.VectorType(ir.IntType(1), 64)), ir.VectorType(ir.IntType(8), 64))
            start = builder.inttoptr(builder.add(args[0], args[1]), lanes.type.as_pointer())
            builder.store(lanes, start).align = 1
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.uint64), codegen

    @intrinsic
    def load_bits(typingctx: Any, row: Any, at: Any) -> Any:
        """Read 64 bytes from byte ``at`` of a row as 64 bits, 1 for what is not zero, unchecked: one vector load."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            lanes = ir.VectorType(ir.IntType(8), 64)
            loaded = builder.load(builder.inttoptr(builder.add(args[0], args[1]), lanes.as_pointer()), align=1)
            return builder.bitcast(builder.icmp_unsigned("!=", loaded, ir.Constant(lanes, None)), ir.IntType(64))

        return types.uint64(types.int64, types.int64), codegen

    @intrinsic
    def copy_deck(typingctx: Any, to: Any, source: Any) -> Any:
        """Copy the 54 bytes of a deck: two vectors that overlap, where a loop would go byte by byte."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            half = ir.VectorType(ir.IntType(8), 32).as_pointer()
            decks = [context.make_array(k)(context, builder, array).data for k, array in zip(signature.args, args, strict=True)]
            places = [[builder.bitcast(builder.gep(d, [ir.IntType(64)(at)]), half) for d in decks] for at in (0, 22)]
            halves = [builder.load(source, align=1) for _, source in places]
            for loaded, (place, _) in zip(halves, places, strict=True):
                builder.store(loaded, place, align=1)
            return context.get_dummy_value()

        return types.void(to, source), codegen

    @intrinsic
    def store_one(typingctx: Any, row: Any, at: Any) -> Any:
        """Write a byte of 1 at byte ``at`` of a row, unchecked."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            from llvmlite import ir

            byte = ir.IntType(8)
            builder.store(byte(1), builder.inttoptr(builder.add(args[0], args[1]), byte.as_pointer()))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

else:
    np.seterr(over="ignore")  # 64-bit products wrap, as they do compiled

    def popcount(x: Any) -> int:
        """Number of set bits."""
        return int(x).bit_count()

    def row_of(array: Any, index: Any) -> Any:
        """A row of an array; an array of one dimension is its own row."""
        return array[index] if array.ndim > 1 else array

    def store_bits(row: Any, at: Any, bits: Any) -> None:
        """Write 64 bits as 64 bytes of 0 and 1 from byte ``at`` of a row."""
        row[at : at + 64] = np.unpackbits(np.array([bits], np.uint64).view(np.uint8), bitorder="little")

    def load_bits(row: Any, at: Any) -> Any:
        """Read 64 bytes from byte ``at`` of a row as 64 bits, 1 for what is not zero."""
        return np.packbits(row[at : at + 64] != 0, bitorder="little").view(np.uint64)[0]

    def store_one(row: Any, at: Any) -> None:
        """Write a byte of 1 at byte ``at`` of a row."""
        row[at] = 1

    def copy_deck(to: Any, source: Any) -> None:
        """Copy the 54 bytes of a deck."""
        to[:] = source

    def lowest(x: Any) -> int:
        """Index of the lowest set bit; 64 for an empty set."""
        value = int(x)
        return (value & -value).bit_length() - 1 if value else 64


ZERO = np.uint64(0)
ONE = np.uint64(1)


@kernel
def keep(array):
    """Use an array for the last time. A record taken from it is a bare address, good only while the array is still used."""
    return array.shape[0]


@inline
def bit(index):
    """Set with one bit."""
    return np.uint64(1) << np.uint64(index)


@inline
def has(bits, index):
    """Whether a bit is set."""
    return (bits >> np.uint64(index)) & np.uint64(1) != np.uint64(0)


@inline
def without_lowest(bits):
    """The set without its lowest bit."""
    return bits & (bits - np.uint64(1))


if GATHERS_BITS:

    @kernel
    def nth(bits, n):
        """Index of the n-th set bit, from 0."""
        return lowest(pdep(np.uint64(1) << np.uint64(n), bits))

    @kernel
    def close_lanes(bits):
        """The low 13 bits of each 16-bit lane, side by side."""
        return pext(bits, np.uint64(0x1FFF1FFF1FFF1FFF))

    @kernel
    def open_lanes(bits):
        """The way back from ``close_lanes``."""
        return pdep(bits, np.uint64(0x1FFF1FFF1FFF1FFF))

else:

    @kernel
    def nth(bits, n):
        """Index of the n-th set bit, from 0."""
        for _ in range(n):
            bits = bits & (bits - np.uint64(1))
        return lowest(bits)

    @kernel
    def close_lanes(bits):
        """The low 13 bits of each 16-bit lane, side by side."""
        lanes = bits & np.uint64(0x1FFF)
        lanes |= (bits >> np.uint64(3)) & np.uint64(0x1FFF << 13)
        lanes |= (bits >> np.uint64(6)) & np.uint64(0x1FFF << 26)
        return lanes | ((bits >> np.uint64(9)) & np.uint64(0x1FFF << 39))

    @kernel
    def open_lanes(bits):
        """The way back from ``close_lanes``."""
        lanes = bits & np.uint64(0x1FFF)
        lanes |= (bits & np.uint64(0x1FFF << 13)) << np.uint64(3)
        lanes |= (bits & np.uint64(0x1FFF << 26)) << np.uint64(6)
        return lanes | ((bits & np.uint64(0x1FFF << 39)) << np.uint64(9))


@kernel
def mix(x):
    """Scramble 64 bits (the finaliser of splitmix64, Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def draw(key, counter):
    """The counter-th 64-bit number of a key."""
    return mix(key + (np.uint64(counter) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


@inline
def below(random, n):
    """A number in [0, n) from the high half of a random word (bias below n / 2**32)."""
    return np.int64(((random >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
