#include "platform/thread.h"

#include <process.h>
#include <stddef.h>
#include <windows.h>

enum { SHORTLY = 10 /* ms */ };

_Static_assert(sizeof(system_mutex) == sizeof(SRWLOCK) &&
                   sizeof(system_condition) == sizeof(CONDITION_VARIABLE) &&
                   sizeof(system_once) == sizeof(INIT_ONCE),
               "each is a pointer, and all of them are NULL at first");

static SRWLOCK *lock_of(struct mutex *mutex)
{
    return (SRWLOCK *)(void *)&mutex->system;
}

static CONDITION_VARIABLE *variable_of(struct condition *condition)
{
    return (CONDITION_VARIABLE *)(void *)&condition->system;
}

static unsigned __stdcall run_thread(void *argument)
{
    struct thread *thread = argument;
    thread->body(thread->argument);
    return 0;
}

bool thread_start(struct thread *thread, void (*body)(void *argument), void *argument)
{
    thread->body = body;
    thread->argument = argument;
    thread->system = (void *)_beginthreadex(NULL, 0, run_thread, thread, 0, NULL);
    return thread->system != NULL;
}

void thread_join(struct thread *thread)
{
    WaitForSingleObject(thread->system, INFINITE);
    CloseHandle(thread->system);
}

void mutex_init(struct mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

void mutex_lock(struct mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

void mutex_unlock(struct mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

void mutex_destroy(struct mutex *mutex)
{
    (void)mutex;
}

void condition_init(struct condition *condition)
{
    InitializeConditionVariable(variable_of(condition));
}

void condition_destroy(struct condition *condition)
{
    (void)condition;
}

void condition_signal(struct condition *condition)
{
    WakeConditionVariable(variable_of(condition));
}

void condition_wait(struct condition *condition, struct mutex *mutex)
{
    SleepConditionVariableSRW(variable_of(condition), lock_of(mutex), INFINITE, 0);
}

bool condition_wait_shortly(struct condition *condition, struct mutex *mutex)
{
    return SleepConditionVariableSRW(variable_of(condition), lock_of(mutex), SHORTLY, 0);
}

static BOOL CALLBACK run_once(INIT_ONCE *once, void *argument, void **context)
{
    void (**body)(void) = argument;
    (void)once, (void)context;
    (*body)();
    return TRUE;
}

void once_run(struct once *once, void (*body)(void))
{
    InitOnceExecuteOnce((INIT_ONCE *)(void *)&once->system, run_once, &body, NULL);
}

int processors_available(void)
{
    DWORD_PTR ours, all;
    int count = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &ours, &all))
        for (; ours != 0; ours &= ours - 1)
            count++;
    return count > 1 ? count : 1;
}

int64_t clock_now(void)
{
    LARGE_INTEGER now, second;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    return now.QuadPart / second.QuadPart * 1000000000 +
           now.QuadPart % second.QuadPart * 1000000000 / second.QuadPart;
}
