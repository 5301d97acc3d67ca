// An adapter in JavaScript for Node: a run's context on standard input, what the model is sent on standard output.
// It needs the decant command (in $DECANT, or "decant" in the path). Check it with
//
//     decant conformance -- node examples/adapter.mjs

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

// A context that breaks a rule throws, and no turn takes place.
const prompt = JSON.parse(
  execFileSync(process.env.DECANT ?? "decant", ["render"], {
    input: readFileSync(0),
    maxBuffer: 128 << 20,
    timeout: 10_000,
    stdio: ["pipe", "pipe", "inherit"],
  }),
);

// A client of a model would send these: the system parts in order (the first can be cached), and one user message.
const { system, user } = prompt.flat;
process.stdout.write(JSON.stringify({ schema: "turn.v1", system, user }));
