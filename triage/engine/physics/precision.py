"""How many bits a number takes: dtypes of weights and caches, and quantisation with its scales."""

from types import MappingProxyType

_DTYPE_BYTES = MappingProxyType({
    "float32": 4.0, "float": 4.0, "fp32": 4.0, "f32": 4.0, "tf32": 4.0,
    "float16": 2.0, "half": 2.0, "fp16": 2.0, "f16": 2.0, "bfloat16": 2.0, "bf16": 2.0,
    "fp8": 1.0, "fp8_e4m3": 1.0, "fp8_e5m2": 1.0, "fp8_inc": 1.0, "float8_e4m3fn": 1.0, "float8_e5m2": 1.0, "f8_e4m3": 1.0,
    "int8": 1.0, "uint8": 1.0,
})  # fmt: skip
"""Bytes of one number, by the names that PyTorch and NumPy give the types."""

_QUANTISED_BITS = MappingProxyType({
    "fp8": 8.0, "fbgemm_fp8": 8.0, "w8a8_fp8": 8.0, "w8a8_int8": 8.0, "w8a8": 8.0, "int8": 8.0, "modelopt": 8.0,
    "awq": 4 + 20 / 128, "awq_marlin": 4 + 20 / 128, "w4a16": 4 + 20 / 128, "int4": 4 + 20 / 128,
    "mxfp4": 4 + 8 / 32,
    "nvfp4": 4 + 8 / 16, "modelopt_fp4": 4 + 8 / 16, "petit_nvfp4": 4 + 8 / 16,
})  # fmt: skip
"""Bits of a quantised weight, its scale included: AWQ has 16 + 4 bits for 128 weights (group size of the paper), MXFP4 8 bits for
32 (OCP Microscaling Formats 1.0), NVFP4 8 bits for 16 (NVIDIA)."""


def bytes_of(dtype: str) -> float | None:
    """Bytes of one number of a dtype as PyTorch, engines and configurations spell it; None for ``auto`` and the unknown."""
    return _DTYPE_BYTES.get(dtype.strip().lower().removeprefix("torch."))


def quantised_bits(method: str) -> float | None:
    """Bits of one weight by an engine's name of the quantisation; None where the name does not tell (``gptq``, ``gguf`` …)."""
    return _QUANTISED_BITS.get(method.strip().lower())


def grouped_bits(bits: float, group: float | None) -> float:
    """Bits of one weight with a 16-bit scale and a zero point of its own width for each group; without groups both vanish."""
    return bits + (16 + bits) / group if group is not None and group > 0 else bits
