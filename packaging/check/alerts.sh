cd "$SOURCE/packaging/prometheus"
promtool check rules drivescope.rules.yml
promtool test rules test.yml
