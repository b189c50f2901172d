#include "registry.h"

#include "functions/aggregates/charts.h"
#include "sqlite/connection.h"

#define ADDRESS_OF(name) &name##_function,
static const struct table_function *const c_functions[] = {TABLE_FUNCTIONS(ADDRESS_OF)};

static const struct table_function *table_function_at(int i)
{
    if (i < COUNT_OF(c_functions))
        return c_functions[i];
    i -= COUNT_OF(c_functions);
    return i < sql_function_count ? &sql_functions[i] : NULL;
}

static bool function_at(int i, struct function *function)
{
    if (i >= scalar_count + aggregate_count)
        return chart_function_at(i - scalar_count - aggregate_count, function);
    *function = i < scalar_count ? scalars[i] : aggregates[i - scalar_count];
    return true;
}

const struct function_list all_functions = {table_function_at, function_at};
