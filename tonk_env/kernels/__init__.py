"""The only rules code: deal, legal, apply, settle, observe, as plain functions over records, compiled by Numba.

Nothing in here checks its input: callers (``Table``, ``Batch``) do. With ``NUMBA_DISABLE_JIT=1`` the same files run
uncompiled, for debugging and coverage.
"""
