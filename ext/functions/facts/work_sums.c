#include "work_sums.h"

#include "naming/short_name.h"

bool device_sums_find(struct call *call, const struct call_trace *opened,
                      const struct device_wish *wish, struct keyed *sums)
{
    *sums = (struct keyed){.keys = {[DEVICE_TOP_OP] = KEY_TOP_OP,
                                    [DEVICE_OP] = KEY_OP,
                                    [DEVICE_KERNEL] = KEY_KERNEL,
                                    [DEVICE_KERNEL_TYPE] = KEY_KERNEL_TYPE,
                                    [DEVICE_SHAPES] = KEY_SHAPES,
                                    [DEVICE_TYPES] = KEY_TYPES,
                                    [DEVICE_GRID] = KEY_GRID,
                                    [DEVICE_BLOCK] = KEY_BLOCK},
                           .width = wish->grids ? DEVICE_KEYS : DEVICE_GRID,
                           .rename = name_stable,
                           .wants_executions = wish->runs || wish->work,
                           .run_width = DEVICE_EVIDENCE,
                           .wants_work = wish->work};
    return call_keyed_add(call, opened, DEVICE_GPU, true, sums);
}

bool host_sums_find(struct call *call, const struct call_trace *opened, struct keyed *sums)
{
    *sums = (struct keyed){.keys = {[HOST_NAME] = KEY_NAME,
                                    [HOST_CAT] = KEY_CAT,
                                    [HOST_SHAPES] = KEY_SHAPES,
                                    [HOST_TYPES] = KEY_TYPES},
                           .width = HOST_KEYS,
                           .rename = name_stable};
    return call_keyed_add(call, opened, DEVICE_CPU, false, sums);
}
