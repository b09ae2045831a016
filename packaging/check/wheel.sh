. "$SOURCE/packaging/check/measure.sh"
python3 -m venv venv
python3 "$SOURCE/packaging/check/older_wheel.py" "$DIST"/drivescope-*_"$ARCHITECTURE".whl .
export PATH="$PLACE/venv/bin:/usr/bin:/bin" XDG_DATA_HOME="$PLACE"
pip install --quiet --no-input --timeout 30 --retries 2 ./drivescope-0.0.1-*.whl
site=$(python -c 'import drivescope, os; print(os.path.dirname(drivescope.__file__))')
test -e "$site/only-in-older"
check_zoned drivescope

pip install --quiet --no-input --timeout 30 --retries 2 "$DIST"/drivescope-*_"$ARCHITECTURE".whl
test ! -e "$site/only-in-older"
python -c "import importlib.metadata; assert importlib.metadata.version('drivescope') == '$VERSION'"
# What the older version stored.
python -c 'import drivescope; (run,) = drivescope.runs(); print(run.id)'
# The quick start. A closing fence is no output of the example above it.
grep -v '^```' "$SOURCE/python/README.md" >readme.txt
python -m doctest -o ELLIPSIS -o NORMALIZE_WHITESPACE readme.txt
measure drivescope

pip uninstall --quiet --yes drivescope
test ! -e venv/bin/drivescope
test ! -e "$site"
