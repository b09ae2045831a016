python3 "$SOURCE/packaging/check/limits.py" "$DIST" "$NAME" "$ARCHITECTURE"
