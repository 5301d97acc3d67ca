// Executes a definition once for each case on standard input and prints what
// happened, one JSON object a line.
//
//   { definition, cases: [{ name, input, script: { state: [step, …] } }] }
//
// items are what a batch's manifest holds, which the emulator does not read
// from S3: the definition's Map is given "ItemsPath": "$$.Manifest" for it.
// The script of "state@run" is for the run alone.
//
// A step is {"return": value}, {"return_undefined": true}, {"error": name,
// "cause": text}; the last one of a state repeats. A state without a script
// answers {}. Every pause before a retry is 0 ms.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";

Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((a, b) => { resolve = a; reject = b; });
  return { promise, resolve, reject };
};

const require = createRequire(pathToFileURL(process.argv[2] + "/package.json"));
const { StateMachine } = require("aws-local-stepfunctions");

const { definition, cases } = JSON.parse(readFileSync(0, "utf8"));
const machine = new StateMachine(definition, { validationOptions: { checkArn: false } });
const tasksOf = (states) => Object.keys(states).flatMap((n) => {
  const s = states[n];
  return s.Type === "Task" ? [n] : s.Type === "Map" ? tasksOf(s.ItemProcessor.States) : [];
});
const tasks = tasksOf(definition.States);

for (const c of cases) {
  const calls = [];
  const handlers = {};
  const pauses = {};
  for (const name of tasks) {
    const turns = {};
    pauses[name] = 0;
    handlers[name] = async (input) => {
      calls.push({ state: name, input });
      const own = name + "@" + (input.envelope?.run ?? input.run);
      const key = c.script?.[own] ? own : name;
      const steps = c.script?.[key] ?? [{ return: {} }];
      const turn = (turns[key] ?? 0);
      turns[key] = turn + 1;
      const step = steps[Math.min(turn, steps.length - 1)];
      if (step.error !== undefined) {
        const e = new Error(step.cause ?? "");
        e.name = step.error;
        throw e;
      }
      return step.return_undefined ? undefined : step.return;
    };
  }
  const visited = [];
  const seen = [];
  let result;
  try {
    const run = machine.run(c.input, {
      overrides: { taskResourceLocalHandlers: handlers, retryIntervalOverrides: pauses },
      context: { Manifest: c.items, Task: { Token: "task-token" }, State: { EnteredTime: "2026-01-02T03:04:05Z" } },
    });
    const log = (async () => {
      for await (const event of run.eventLogs) {
        if (event.type === "StateEntered") {
          visited.push(event.state.name);
          seen.push({ state: event.state.name, input: event.state.input });
        }
      }
    })();
    try {
      result = { status: "succeeded", output: await run.result };
    } catch (e) {
      result = { status: "failed", error: e?.cause?.name ?? e?.name };
    }
    await log;
  } catch (e) {
    result = { status: "invalid", error: String(e?.message ?? e) }; // the emulator itself
  }
  process.stdout.write(JSON.stringify({ name: c.name, ...result, calls, visited, seen }) + "\n");
}
