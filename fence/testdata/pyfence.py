"""Print the speed in MB/s of the fence that a document shows: pyfence.py DOCUMENT TEXT."""
import re
import secrets
import sys
import time

document, text = (open(name, encoding="utf-8").read() for name in sys.argv[1:3])
start = document.index("def new_fence_token(")
end = document.index("\n\n", document.index("return", document.index("def fence(")))
scope = {
    "secrets": secrets,
    # The document uses this name without showing it; the roles are those of its text.
    "_ROLE_PREFIX_RE": re.compile(r"^(?:Counsel|System|Atlas|User)\s*:\s*", re.IGNORECASE),
}
exec(document[start:end], scope)

best = float("inf")
for _ in range(5):
    begin = time.perf_counter()
    scope["fence"](scope["new_fence_token"](), text)
    best = min(best, time.perf_counter() - begin)
print(len(text.encode()) / 1e6 / best)
