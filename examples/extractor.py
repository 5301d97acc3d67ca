"""An extractor in Python: a run's context comes in, one JSON value of the recipe's shape goes out.

It needs the standard library and the decant command (in $DECANT, or "decant" in the path). Its shape is

    kind   "bug", "feature" or "question"
    quote  at most 160 characters of one element, or absent

See docs/adapters.md for how a recipe runs it.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
from urllib.parse import urlsplit


def context() -> bytes:
    """Gives run_context.v1: from standard input, or in mode Fetch over the connection that the engine made."""
    url = os.environ.get("DECANT_CONTEXT_URL")
    if url is None:
        return sys.stdin.buffer.read()
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname, at.port)
    connection.sock = socket.socket(fileno=int(os.environ["DECANT_CONTEXT_FD"]))
    connection.request("GET", at.path, headers={"Authorization": "Bearer " + os.environ["DECANT_CONTEXT_TOKEN"]})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"the context API answers {answer.status}")
    return body


def render(document: bytes) -> dict:
    """Gives prompt.v1. A context that breaks a rule raises CalledProcessError, and there is no answer."""
    command = [os.environ.get("DECANT", "decant"), "render"]
    done = subprocess.run(command, input=document, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


WORDS = {
    "bug": {"bug", "crash", "crashes", "error", "fails", "panic", "stops", "wrong"},
    "feature": {"add", "allow", "feature", "support", "wish", "would"},
    "question": {"how", "what", "where", "why"},
}


def complete(system: list, user: str) -> str:
    """Is the model: put yours here. This one counts words, so that the example runs without one."""
    words = re.findall(r"[a-z]+", (" ".join(system[1:]) + " " + user).lower())
    score = {kind: sum(words.count(word) for word in known) for kind, known in WORDS.items()}
    return json.dumps({"kind": max(score, key=score.get)})


def echoes(answer: str, data: str) -> bool:
    """Says whether an answer holds 16 digits of the turn's boundary in a row: then it is not to be used."""
    found = re.search(r"token=([0-9a-f]{32})", data)
    digits = found.group(1) if found else ""
    return any(digits[i : i + 16] in answer.lower() for i in range(len(digits) - 15))


def main() -> None:
    prompt = render(context())
    user = prompt["flat"]["user"]
    broken = os.environ.get("DECANT_BROKEN")
    if broken:  # the second and last turn: our own words, so they may stand before the prompt
        user = f"Your previous answer broke a rule: {broken}.\n" + user
    answer = complete(prompt["flat"]["system"], user)
    if echoes(answer, prompt["data"]):
        raise SystemExit("the answer holds the boundary")
    sys.stdout.write(answer)


if __name__ == "__main__":
    main()
