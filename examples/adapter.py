"""An adapter in Python: a run's context on standard input, what the model is sent on standard output.

It needs the standard library and the decant command (in $DECANT, or "decant" in the path). Check it with

    decant conformance -- python3 examples/adapter.py
"""

import json
import os
import subprocess
import sys


def render(context: bytes) -> dict:
    """Gives prompt.v1. A context that breaks a rule raises CalledProcessError, and no turn takes place."""
    done = subprocess.run(
        [os.environ.get("DECANT", "decant"), "render"],
        input=context,
        stdout=subprocess.PIPE,
        timeout=10,
        check=True,
    )
    return json.loads(done.stdout)


def request(prompt: dict) -> dict:
    """Puts a model call together: the preamble first and cached, the data where the prompt places it, the voice last."""
    preamble, *data = prompt["flat"]["system"]
    system = [{"text": preamble}, {"cachePoint": {"type": "default"}}]
    system += [{"text": part} for part in data]
    return {
        "system": system,
        "messages": [{"role": "user", "content": [{"text": prompt["flat"]["user"]}]}],
    }


def turn(call: dict) -> dict:
    """Gives turn.v1 of a call: the texts alone, in order."""
    return {
        "schema": "turn.v1",
        "system": [part["text"] for part in call["system"] if "text" in part],
        "user": call["messages"][0]["content"][0]["text"],
    }


def main() -> None:
    call = request(render(sys.stdin.buffer.read()))
    # A client of a model would send the call here.
    json.dump(turn(call), sys.stdout)


if __name__ == "__main__":
    main()
