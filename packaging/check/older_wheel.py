"""The same wheel as version 0.0.1, with a file that the newer one does not have: `older_wheel.py WHEEL FOLDER`."""

import re
import sys
import zipfile
from pathlib import Path

newer = Path(sys.argv[1])
version = newer.name.split("-")[1]
info, older_info = f"drivescope-{version}.dist-info", "drivescope-0.0.1.dist-info"
older = Path(sys.argv[2]) / newer.name.replace(f"-{version}-", "-0.0.1-")
with zipfile.ZipFile(newer) as read, zipfile.ZipFile(older, "w") as written:
    for entry in read.infolist():
        data = read.read(entry)
        if entry.filename == f"{info}/METADATA":
            data = re.sub(rb"(?m)^Version: .*$", b"Version: 0.0.1", data)
        if entry.filename == f"{info}/RECORD":
            data = data.replace(info.encode(), older_info.encode()) + b"drivescope/only-in-older,,\n"
        entry.filename = entry.filename.replace(info, older_info)
        written.writestr(entry, data)
    written.writestr("drivescope/only-in-older", "")
