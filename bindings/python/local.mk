# The Python binding: the package, and the script of its tests.
python_sources = %D%/paddock/__init__.py %D%/paddock/_barrier.py %D%/paddock/_cdef.py %D%/paddock/_client.py \
	%D%/paddock/_contenders.py %D%/paddock/_errors.py %D%/paddock/_leader.py %D%/paddock/_library.py \
	%D%/paddock/_locks.py %D%/paddock/_once.py %D%/paddock/_secure.py \
	%D%/paddock/_stats.py
if WITH_PYTHON
pkgpython_PYTHON = $(python_sources)
pkgpython_DATA = %D%/paddock/py.typed
endif
python_scripts = %D%/check
python_helpers = %D%/relay
%C%_relay_SOURCES = %D%/relay.c
%C%_relay_LDADD = $(library_and_harness)
EXTRA_DIST += $(python_scripts) %D%/generate \
	$(python_sources) %D%/paddock/py.typed \
	%D%/test/common.py %D%/test/test_asyncio.py %D%/test/test_beside_kazoo.py %D%/test/test_contenders.py \
	%D%/test/test_document.py %D%/test/test_errors.py %D%/test/test_locks.py %D%/test/test_log.py %D%/test/test_process.py \
	%D%/test/test_recipes.py %D%/test/test_secure.py %D%/test/test_stats.py
