. "$SOURCE/packaging/check/measure.sh"
debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" debian >debootstrap.log
mount -t proc proc debian/proc
dpkg-deb --raw-extract "$DIST"/drivescope_*_"$DEBIAN_ARCHITECTURE".deb older
sed --in-place 's/^Version: .*/Version: 0.0.1-1/' older/DEBIAN/control
touch older/usr/share/doc/drivescope/only-in-older
dpkg-deb --root-owner-group -Znone --build older debian/tmp/older.deb
cp "$DIST"/drivescope_*_"$DEBIAN_ARCHITECTURE".deb debian/tmp/newer.deb

chroot debian dpkg --install /tmp/older.deb
test -e debian/usr/share/doc/drivescope/only-in-older
check_zoned chroot debian drivescope

chroot debian dpkg --install /tmp/newer.deb
test ! -e debian/usr/share/doc/drivescope/only-in-older
# What the older version stored.
chroot debian drivescope show last --quiet >/dev/null
measure chroot debian drivescope
for file in man/man1/drivescope.1.gz bash-completion/completions/drivescope doc/drivescope/sbom.cdx.json; do
    test -s "debian/usr/share/$file"
done
cmp "$SOURCE/packaging/grafana/drivescope.json" debian/usr/share/drivescope/grafana.json
cmp "$SOURCE/packaging/grafana/fleet.json" debian/usr/share/drivescope/grafana-fleet.json
test -s debian/usr/lib/systemd/system/drivescope-check@.timer

chroot debian dpkg --purge drivescope
test ! -e debian/usr/bin/drivescope
test ! -e debian/usr/share/doc/drivescope
