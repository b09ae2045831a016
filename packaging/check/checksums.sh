cd "$DIST"
sha256sum --check --strict SHA256SUMS
