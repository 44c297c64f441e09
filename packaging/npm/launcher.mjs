#!/usr/bin/env node
/**
 * Starts the program of this platform, which npm has installed beside this package as one of its optional dependencies. Plain Node
 * 18 or newer, without dependencies. `SVC_BINARY` names another program.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A terminal and npm both pass on one Ctrl-C. The program would take the second signal as an order to end at once. */
const SAME_SIGNAL_MS = 1000;
const POLL_INTERVAL_MS = 500;
const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const EXIT_USER = 1;

const {
  name,
  version,
  optionalDependencies = {},
} = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), "package.json"), "utf8"));

run(process.env.SVC_BINARY || installedProgram());

function run(program) {
  const child = spawn(program, process.argv.slice(2), {
    stdio: "inherit",
    // A session of its own, so that the signals of the terminal reach it once, by this process.
    detached: true,
    // The program ends when its parent is no longer this process, which kill -9 prevents from passing that on.
    env: { ...process.env, SVC_LAUNCHER_PID: `${process.pid}` },
  });
  let lastSignalMs = Number.NEGATIVE_INFINITY;
  const end = (signal) => {
    const nowMs = performance.now();
    if (nowMs - lastSignalMs < SAME_SIGNAL_MS) return;
    lastSignalMs = nowMs;
    child.kill(signal);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, end);
  // npm passes SIGTERM to the shell between it and this process, which does not pass it on, and does not wait.
  const parent = process.ppid;
  if (process.env.npm_command !== undefined)
    setInterval(() => process.ppid === parent || end("SIGTERM"), POLL_INTERVAL_MS).unref();
  process.on("SIGWINCH", () => child.kill("SIGWINCH"));
  process.on("SIGCONT", () => child.kill("SIGCONT"));
  process.on("SIGTSTP", () => {
    child.kill("SIGSTOP");
    process.kill(process.pid, "SIGSTOP");
  });
  child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? EXIT_USER);
    // Ends as the program did, so that the caller sees the signal.
    for (const ending of ENDING_SIGNALS) process.removeAllListeners(ending);
    process.kill(process.pid, signal);
    // A signal that does not end this process, or not at once.
    setTimeout(() => process.exit(EXIT_USER), SAME_SIGNAL_MS);
  });
}

/** The path of the program for this machine. Ends the process where there is none. */
function installedProgram() {
  const packageName = `${name}-${platform()}`;
  if (!(packageName in optionalDependencies)) {
    const known = Object.keys(optionalDependencies).map((known) => known.slice(name.length + 1));
    const hint = process.platform === "win32" ? " On Windows, run it in WSL." : "";
    fail(`there is no program for ${platform()}, only for ${known.join(", ")}.${hint}`);
  }
  let program;
  try {
    program = join(dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`)), "svc");
  } catch {
    fail(
      `the package ${packageName} is not installed. npm leaves it out with --omit=optional (--no-optional), and where node_modules comes from another platform. Install again without that, add ${packageName}@${version}, or set SVC_BINARY to a program.`,
    );
  }
  return withPermission(program);
}

/** Such as `linux-x64-musl-baseline`, the last part of the name of a package. */
function platform() {
  const system = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return system;
  return `${system}${isMusl() ? "-musl" : ""}${process.arch === "x64" && !hasAvx2() ? "-baseline" : ""}`;
}

/** Whether the C library is musl: that of the Node that runs this is the one that is there. */
function isMusl() {
  const header = process.report?.getReport?.().header;
  if (header) return header.glibcVersionRuntime === undefined;
  return readdirSync("/lib").some((file) => file.startsWith("ld-musl-"));
}

/** Whether the processor has the instructions that the usual program for x64 uses; not so before 2013. */
function hasAvx2() {
  try {
    return /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
  } catch {
    return true;
  }
}

/** Some tools unpack packages without the permission to execute. */
function withPermission(program) {
  if (!existsSync(program)) fail(`${program} is missing: install ${name} again.`);
  try {
    chmodSync(program, 0o755);
  } catch {
    // Installed by another user, who has set it.
  }
  return program;
}

function fail(message) {
  process.stderr.write(`${name}: ${message}\n`);
  process.exit(EXIT_USER);
}
