"""What the driver's errors mean: for one question, for a card, for the opening of the driver."""

from typing import Any

from triage.classes import dataclass
from triage.model.recording import SourceState

# Codes of NVML's answers (nvml.h, nvmlReturn_t). pynvml gives them as ``NVMLError.value``.
NOT_SUPPORTED, NO_PERMISSION, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, FUNCTION_NOT_FOUND = 3, 4, 9, 12, 13
GPU_IS_LOST, RESET_REQUIRED, MISMATCH, VERSION, DEPRECATED, UNKNOWN = 15, 16, 18, 25, 26, 999
FOR_EVER = {
    2: "is not supported",
    NOT_SUPPORTED: "is not supported",
    NO_PERMISSION: "needs more rights",
    FUNCTION_NOT_FOUND: "is not known to this driver",
    VERSION: "is not known to this driver",
    DEPRECATED: "is not known to this driver",
}
GONE = {GPU_IS_LOST: "fell off the bus", RESET_REQUIRED: "needs a reset", 28: "is not found any more"}


@dataclass(frozen=True)
class OpenFailure:
    """Why the driver could not be opened: the state of the source, an event's name, the driver's own words, what it means."""

    state: SourceState
    name: str
    said: str
    meaning: str


_OPEN_FAILURES = {
    LIBRARY_NOT_FOUND: OpenFailure(
        SourceState.ABSENT,
        "",
        "",
        "libnvidia-ml.so.1 is not here: there is no NVIDIA driver, or triage runs in a container that was not given the cards",
    ),
    DRIVER_NOT_LOADED: OpenFailure(
        SourceState.FAILED,
        "driver-not-loaded",
        "Failed to initialize NVML: Driver Not Loaded",
        "the driver's library is here but its kernel module is not loaded: look at lsmod and dmesg for nvidia",
    ),
    MISMATCH: OpenFailure(
        SourceState.FAILED,
        "driver-library-mismatch",
        "Failed to initialize NVML: Driver/library version mismatch",
        "the library was upgraded while the old kernel module is still loaded: no new program can use the cards until a reboot",
    ),
    NO_PERMISSION: OpenFailure(
        SourceState.FAILED,
        "no-permission",
        "Failed to initialize NVML: Insufficient Permissions",
        "this user may not open /dev/nvidiactl and /dev/nvidia*: run as a user who may",
    ),
    UNKNOWN: OpenFailure(
        SourceState.FAILED,
        "unknown-error",
        "Failed to initialize NVML: Unknown Error",
        "a container has lost access to the devices (a reload of systemd does that): compare with nvidia-smi on the host",
    ),
    GPU_IS_LOST: OpenFailure(
        SourceState.FAILED,
        "gpu-lost",
        "Failed to initialize NVML: GPU is lost",
        "a card fell off the bus: look for Xid 79 in the kernel log",
    ),
}


def open_failure(error: Any) -> OpenFailure:
    """What an error at the opening means."""
    if error.value in _OPEN_FAILURES:
        return _OPEN_FAILURES[error.value]
    return OpenFailure(SourceState.FAILED, "driver-error", f"Failed to initialize NVML: {error}", "compare with nvidia-smi")


def never_opened(seconds: float) -> OpenFailure:
    """What it means that the driver does not even open."""
    return OpenFailure(
        SourceState.FAILED,
        "driver-hung",
        f"NVML did not open within {seconds:g} s",
        "nvidia-smi will hang as well; look for Xid 119 or 120 (GSP time-outs) in the kernel log",
    )
