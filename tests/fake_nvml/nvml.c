/* A stand-in for libnvidia-ml.so.1: the functions that the collector asks for, with the signatures and codes of nvml.h.
 *
 * What it does is told by the environment variable FAKE_NVML, words separated by blanks:
 *
 *   cards=N           how many cards there are (2)
 *   init=CODE         nvmlInit answers with this code
 *   init_hangs=1      nvmlInit never returns
 *   lost=CARD@TICK    from this round on the card answers GPU_IS_LOST
 *   hang=CARD@TICK    from this round on the card never answers
 *   unknown=CARD@TICK from this round on the card answers "Unknown Error"
 *   absent=CARD       the card is counted but its handle is refused with GPU_IS_LOST
 *   reasons=MASK      clock event reasons of card 0
 *   lacks=A,B,…       functions (or field-NUMBER) that answer NOT_SUPPORTED
 *   forbids=A,B,…     functions that answer NO_PERMISSION
 *   unified=1         the cards have no memory of their own
 *   mig=1             card 0 is split into two instances
 *   nvlink=1          the cards have four NVLinks, one of them down
 *   procs=PID:MIB,…   compute processes on card 0
 *   xid=CODE@TICK     card 1 reports this Xid in this round
 *
 * A round of a card begins with the question for its temperature. Compiled with -DOLD it lacks what drivers before 2023 lacked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int Answer;
enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, TOO_SMALL = 7, TIMED_OUT = 10, LOST = 15, UNKNOWN = 999 };

typedef struct { int card; int instance; int round; } Device;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned version; unsigned long long total, reserved, free, used; } MemoryV2;
typedef struct { unsigned gpu, memory; } Utilization;
typedef struct { unsigned long long reference, violation; } Violation;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } Process;
typedef union { double d; unsigned ui; unsigned long ul; unsigned long long ull; long long sll; int si; unsigned short us; } Value;
typedef struct { unsigned field, scope; long long stamp, latency; unsigned type; Answer answer; Value value; } Field;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } Pci;
typedef struct { Device *device; unsigned long long type, data; unsigned gpu_instance, compute_instance; } EventData;

#define MIB (1ULL << 20)
#define CARDS 16

static Device cards[CARDS], instances[2];
static int reported;

static const char *setting(const char *key) {
    static _Thread_local char value[256];
    const char *at = getenv("FAKE_NVML");
    size_t length = strlen(key);
    while (at && *at) {
        if (!strncmp(at, key, length) && at[length] == '=') {
            snprintf(value, sizeof value, "%s", at + length + 1);
            value[strcspn(value, " ")] = 0;
            return value;
        }
        at = strchr(at, ' ');
        if (at) at++;
    }
    return NULL;
}

static int number(const char *key, int otherwise) {
    const char *value = setting(key);
    return value ? (int)strtol(value, NULL, 0) : otherwise;
}

/* Whether "key=CARD@TICK" says that the card is struck by now. */
static int struck(const char *key, const Device *device) {
    int card, round;
    const char *value = setting(key);
    return value && sscanf(value, "%d@%d", &card, &round) == 2 && device->card == card && cards[card].round >= round;
}

static int listed(const char *key, const char *name) {
    char list[256], *word, *rest;
    const char *value = setting(key);
    if (!value) return 0;
    snprintf(list, sizeof list, "%s", value);
    for (word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!strcmp(word, name)) return 1;
    return 0;
}

static Answer check(const Device *device, const char *function) {
    if (struck("hang", device)) for (;;) sleep(1000);
    if (struck("lost", device)) return LOST;
    if (struck("unknown", device)) return UNKNOWN;
    if (listed("lacks", function)) return NOT_SUPPORTED;
    if (listed("forbids", function)) return NO_PERMISSION;
    return OK;
}

#define ASK(device) do { Answer answer_ = check(device, __func__); if (answer_) return answer_; } while (0)
#define WHOLE_CARD(device) do { if ((device)->instance) return NOT_SUPPORTED; } while (0)

Answer nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    if (number("init_hangs", 0)) for (;;) sleep(1000);
    for (int card = 0; card < CARDS; card++) cards[card].card = card;
    instances[0].instance = 1, instances[1].instance = 2;
    return number("init", OK);
}
Answer nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(Answer answer) { (void)answer; return "an error of the stand-in"; }

static Answer text(char *buffer, unsigned length, const char *what) {
    snprintf(buffer, length, "%s", what);
    return OK;
}
Answer nvmlSystemGetDriverVersion(char *buffer, unsigned length) { return text(buffer, length, "580.65.06"); }
Answer nvmlSystemGetCudaDriverVersion_v2(int *version) { *version = 12090; return OK; }

Answer nvmlDeviceGetCount_v2(unsigned *count) { *count = number("cards", 2); return OK; }
Answer nvmlDeviceGetHandleByIndex_v2(unsigned index, Device **device) {
    if ((int)index == number("absent", -1)) return LOST;
    *device = &cards[index];
    return OK;
}
Answer nvmlDeviceGetUUID(Device *device, char *buffer, unsigned length) {
    ASK(device);
    snprintf(buffer, length, device->instance ? "MIG-0000-%d" : "GPU-0000-%d", device->instance ? device->instance : device->card);
    return OK;
}
Answer nvmlDeviceGetName(Device *device, char *buffer, unsigned length) {
    ASK(device);
    return text(buffer, length, device->instance ? "NVIDIA H100 80GB HBM3 MIG 3g.40gb" : "NVIDIA H100 80GB HBM3");
}
Answer nvmlDeviceGetVbiosVersion(Device *device, char *buffer, unsigned length) { ASK(device); return text(buffer, length, "96.00.61.00.01"); }
Answer nvmlDeviceGetCudaComputeCapability(Device *device, int *major, int *minor) { ASK(device); *major = 9, *minor = 0; return OK; }
Answer nvmlDeviceGetPciInfo_v3(Device *device, Pci *pci) {
    ASK(device);
    memset(pci, 0, sizeof *pci);
    snprintf(pci->bus_id, sizeof pci->bus_id, "00000000:%02X:00.0", 0x18 + device->card);
    return OK;
}

Answer nvmlDeviceGetMemoryInfo(Device *device, Memory *memory) {
    ASK(device);
    if (number("unified", 0)) return NOT_SUPPORTED;
    memory->total = 81559 * MIB, memory->free = 20000 * MIB, memory->used = 61559 * MIB;
    return OK;
}
#ifndef OLD
Answer nvmlDeviceGetMemoryInfo_v2(Device *device, MemoryV2 *memory) {
    ASK(device);
    if (number("unified", 0)) return NOT_SUPPORTED;
    memory->total = (device->instance ? 40448 : 81559) * MIB;
    memory->reserved = 559 * MIB, memory->free = 20000 * MIB;
    memory->used = memory->total - memory->reserved - memory->free;
    return OK;
}
#endif
Answer nvmlDeviceGetUtilizationRates(Device *device, Utilization *utilization) {
    ASK(device);
    if (number("mig", 0) && device->card == 0) return NOT_SUPPORTED;
    utilization->gpu = 97, utilization->memory = 41;
    return OK;
}
Answer nvmlDeviceGetTemperature(Device *device, unsigned sensor, unsigned *value) {
    device->round++;
    ASK(device);
    if (sensor) return INVALID;
    *value = 60 + device->card;
    return OK;
}
Answer nvmlDeviceGetPowerUsage(Device *device, unsigned *value) { ASK(device); *value = 650000; return OK; }
Answer nvmlDeviceGetEnforcedPowerLimit(Device *device, unsigned *value) { ASK(device); *value = 700000; return OK; }
Answer nvmlDeviceGetPowerManagementDefaultLimit(Device *device, unsigned *value) { ASK(device); *value = 700000; return OK; }
Answer nvmlDeviceGetPowerManagementLimitConstraints(Device *device, unsigned *least, unsigned *most) {
    ASK(device);
    *least = 200000, *most = 700000;
    return OK;
}
Answer nvmlDeviceGetTotalEnergyConsumption(Device *device, unsigned long long *value) {
    ASK(device);
    *value = 9000000ULL + 650000ULL * device->round;
    return OK;
}
Answer nvmlDeviceGetClockInfo(Device *device, unsigned clock, unsigned *value) {
    ASK(device);
    *value = clock == 1 ? 1755 : 2619;
    return clock == 1 || clock == 2 ? OK : INVALID;
}
Answer nvmlDeviceGetMaxClockInfo(Device *device, unsigned clock, unsigned *value) { ASK(device); *value = clock == 1 ? 1980 : 2619; return OK; }
#ifdef OLD
Answer nvmlDeviceGetCurrentClocksThrottleReasons(Device *device, unsigned long long *value) {
#else
Answer nvmlDeviceGetCurrentClocksEventReasons(Device *device, unsigned long long *value) {
#endif
    ASK(device);
    *value = device->card == 0 ? number("reasons", 0) : 1;
    return OK;
}
Answer nvmlDeviceGetViolationStatus(Device *device, unsigned policy, Violation *violation) {
    ASK(device);
    violation->reference = 1000000ULL * device->round;
    violation->violation = policy == 1 ? 250000000ULL * device->round : 0;
    return OK;
}
Answer nvmlDeviceGetTotalEccErrors(Device *device, unsigned kind, unsigned counter, unsigned long long *value) {
    ASK(device);
    *value = kind == 1 ? 2 : 7;
    return counter == 0 ? OK : INVALID;
}
Answer nvmlDeviceGetRemappedRows(Device *device, unsigned *correctable, unsigned *uncorrectable, unsigned *pending, unsigned *failed) {
    ASK(device);
    *correctable = 3, *uncorrectable = 1, *pending = 1, *failed = 0;
    return OK;
}
Answer nvmlDeviceGetCurrPcieLinkGeneration(Device *device, unsigned *value) { ASK(device); *value = 4; return OK; }
Answer nvmlDeviceGetMaxPcieLinkGeneration(Device *device, unsigned *value) { ASK(device); *value = 5; return OK; }
Answer nvmlDeviceGetCurrPcieLinkWidth(Device *device, unsigned *value) { ASK(device); *value = 8; return OK; }
Answer nvmlDeviceGetMaxPcieLinkWidth(Device *device, unsigned *value) { ASK(device); *value = 16; return OK; }
Answer nvmlDeviceGetPcieReplayCounter(Device *device, unsigned *value) { ASK(device); *value = 10 + 4 * device->round; return OK; }
Answer nvmlDeviceGetPcieThroughput(Device *device, unsigned counter, unsigned *value) { ASK(device); *value = counter ? 3000 : 1000; return OK; }

Answer nvmlDeviceGetNvLinkState(Device *device, unsigned link, unsigned *active) {
    ASK(device);
    if (!number("nvlink", 0)) return NOT_SUPPORTED;
    if (link >= 4) return INVALID;
    *active = link != 2;
    return OK;
}
Answer nvmlDeviceGetNvLinkErrorCounter(Device *device, unsigned link, unsigned counter, unsigned long long *value) {
    ASK(device);
    if (link == 2) return INVALID;
    *value = link == 3 && counter == 0 ? 5ULL * device->round : 1000;
    return OK;
}
Answer nvmlDeviceGetFieldValues(Device *device, int count, Field *fields) {
    ASK(device);
    for (Field *field = fields; field < fields + count; field++) {
        char name[32];
        snprintf(name, sizeof name, "field-%u", field->field);
        field->answer = listed("lacks", name) ? NOT_SUPPORTED : OK;
        switch (field->field) {
        case 82: field->type = 1, field->value.ui = 88; break;
        case 138: case 139: field->type = 3, field->value.ull = 2048ULL * device->round; break;
        case 208: case 211: case 215: field->type = 3, field->value.ull = 1ULL * device->round; break;
        default: field->answer = NOT_SUPPORTED;
        }
    }
    return OK;
}

#ifdef OLD
Answer nvmlDeviceGetComputeRunningProcesses_v2(Device *device, unsigned *count, Process *processes) {
#else
Answer nvmlDeviceGetComputeRunningProcesses_v3(Device *device, unsigned *count, Process *processes) {
#endif
    unsigned found = 0, room = *count;
    ASK(device);
    const char *value = device->card == 0 ? setting("procs") : NULL;
    for (; value && *value; value = strchr(value, ',') ? strchr(value, ',') + 1 : NULL) {
        unsigned pid;
        long long mib;
        if (sscanf(value, "%u:%lld", &pid, &mib) != 2) break;
        if (found < room && processes) {
            memset(&processes[found], 0, sizeof *processes);
            processes[found].pid = pid;
            processes[found].used = mib < 0 ? ~0ULL : mib * MIB;
        }
        found++;
    }
    *count = found;
    return found > room ? TOO_SMALL : OK;
}

Answer nvmlDeviceGetMigMode(Device *device, unsigned *current, unsigned *pending) {
    ASK(device);
    *current = *pending = device->card == 0 && number("mig", 0);
    return OK;
}
Answer nvmlDeviceGetMaxMigDeviceCount(Device *device, unsigned *count) { ASK(device); *count = 7; return OK; }
Answer nvmlDeviceGetMigDeviceHandleByIndex(Device *device, unsigned index, Device **part) {
    ASK(device);
    if (index >= 2) return NOT_FOUND;
    *part = &instances[index];
    return OK;
}

Answer nvmlEventSetCreate(void **set) { if (listed("lacks", __func__)) return NOT_SUPPORTED; *set = cards; return OK; }
Answer nvmlEventSetFree(void *set) { (void)set; return OK; }
Answer nvmlDeviceRegisterEvents(Device *device, unsigned long long types, void *set) { (void)set; ASK(device); return types == 8 ? OK : INVALID; }
Answer nvmlEventSetWait_v2(void *set, EventData *data, unsigned milliseconds) {
    int code, round;
    const char *value = setting("xid");
    (void)set, (void)milliseconds;
    if (!value || sscanf(value, "%d@%d", &code, &round) != 2 || reported || cards[1].round < round) return TIMED_OUT;
    reported = 1;
    memset(data, 0, sizeof *data);
    data->device = &cards[1], data->type = 8, data->data = code;
    return OK;
}
