import { createLogger } from "../../../src/runtime/log/logger.ts";
import { createShutdown, handleSignals } from "../../../src/runtime/shutdown.ts";
import { configWith } from "../config.ts";

const [mode, deadlineMs = "5000"] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);

const log = createLogger(configWith());
const shutdown = createShutdown({ deadlineMs: Number(deadlineMs), log, routineLevel: "info" });
handleSignals(shutdown, log);
const open = setInterval(() => {}, 60_000);
shutdown.add("index", () => {
  clearInterval(open);
  say("closed index");
});
if (mode === "hang") {
  shutdown.add("stuck", () => {
    say("closing stuck");
    return new Promise(() => {});
  });
} else {
  shutdown.add("http", () => void say("closed http"));
}
say("ready");
if (mode === "throw") {
  setTimeout(() => {
    throw new Error("nobody catches this");
  }, 0);
}
if (mode === "reject") setTimeout(() => void Promise.reject(new Error("nobody catches this")), 0);
process.exit(await shutdown.finished);
