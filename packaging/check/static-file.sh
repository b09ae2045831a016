. "$SOURCE/packaging/check/measure.sh"
tar -xzf "$DIST/$NAME.tar.gz"
export PATH="$PLACE/$NAME/bin:/usr/bin:/bin" XDG_DATA_HOME="$PLACE"
measure drivescope
