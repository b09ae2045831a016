. "$SOURCE/packaging/check/measure.sh"
mkdir -p rpm content
rpm --root "$PLACE/rpm" --initdb
rpm2archive - <"$(echo "$DIST"/drivescope-*."$ARCHITECTURE".rpm)" | tar -xz -C content
touch content/usr/share/doc/drivescope/only-in-older
cat >older.spec <<SPEC
Name: drivescope
Version: 0.0.1
Release: 1
Summary: the same program as an older version
License: MIT OR Apache-2.0
AutoReqProv: no
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%description
It has a file that the newer one does not have.
%install
cp -R $PLACE/content/usr %{buildroot}
cd %{buildroot} && find usr -type f -printf '"/%p"\n' >%{_topdir}/files
%files -f %{_topdir}/files
%defattr(-,root,root)
SPEC
rpmbuild --quiet -bb --define "_topdir $PLACE/top" older.spec
container rpm
export HOME=/

rpm --root "$PLACE/rpm" --nodeps --install top/RPMS/*/drivescope-0.0.1-1.*.rpm
test -e rpm/usr/share/doc/drivescope/only-in-older
check_zoned chroot rpm /usr/bin/drivescope

rpm --root "$PLACE/rpm" --nodeps --upgrade "$DIST"/drivescope-*."$ARCHITECTURE".rpm
test "$(rpm --root "$PLACE/rpm" --query --queryformat '%{VERSION}' drivescope)" = "$VERSION"
test ! -e rpm/usr/share/doc/drivescope/only-in-older
# What the older version stored.
chroot rpm /usr/bin/drivescope show last --quiet >/dev/null
measure chroot rpm /usr/bin/drivescope

cmp "$SOURCE/packaging/grafana/drivescope.json" rpm/usr/share/drivescope/grafana.json
cmp "$SOURCE/packaging/grafana/fleet.json" rpm/usr/share/drivescope/grafana-fleet.json

rpm --root "$PLACE/rpm" --erase drivescope
test ! -e rpm/usr/bin/drivescope
