lintian --fail-on error "$DIST"/drivescope_*_"$DEBIAN_ARCHITECTURE".deb
