. "$SOURCE/packaging/check/measure.sh"
mkdir parts root
tar -xf "$DIST"/drivescope-*-"$DEBIAN_ARCHITECTURE"-image.tar -C parts
for layer in parts/*.tar; do
    tar -xf "$layer" -C root
done
container root
# As its configuration has it: the entry point, and runs below /data.
export XDG_DATA_HOME=/data HOME=/
measure chroot root /drivescope
test -d root/data/drivescope/runs
