#!/usr/bin/env node
/**
 * Starts the program for this platform, which npm has installed as one of this package's optional dependencies. Runs on plain Node
 * 18 or newer, without other dependencies. `SVC_BINARY` selects another program.
 */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The terminal and npm each forward the same Ctrl-C. The program would treat the second signal as a request to exit immediately. */
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
    // Starts a new session, so that signals of the terminal reach the program only once, through this process.
    detached: true,
    // The program exits once this process is no longer its parent, because a process killed with -9 cannot forward the signal.
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
  // npm sends SIGTERM to the shell between itself and this process. The shell neither forwards it nor waits.
  const parent = process.ppid;
  if (process.env.npm_command !== undefined) {
    const poll = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(poll);
      // After Ctrl-C, npm ends before a program that is still shutting down.
      if (lastSignalMs === Number.NEGATIVE_INFINITY) end("SIGTERM");
    }, POLL_INTERVAL_MS).unref();
  }
  process.on("SIGWINCH", () => child.kill("SIGWINCH"));
  process.on("SIGCONT", () => child.kill("SIGCONT"));
  process.on("SIGTSTP", () => {
    child.kill("SIGSTOP");
    process.kill(process.pid, "SIGSTOP");
  });
  child.on("error", (error) => fail(`cannot start ${program}: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? EXIT_USER);
    // Exits by the same signal as the program, so that the caller sees it.
    for (const ending of ENDING_SIGNALS) process.removeAllListeners(ending);
    process.kill(process.pid, signal);
    // In case the signal does not end this process, or not immediately.
    setTimeout(() => process.exit(EXIT_USER), SAME_SIGNAL_MS);
  });
}

/** Returns the path of the program for this machine. Exits if none is installed. */
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

/** Returns the last part of the package name, such as `linux-x64-musl-baseline`. */
function platform() {
  const system = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return system;
  return `${system}${isMusl() ? "-musl" : ""}${process.arch === "x64" && !hasAvx2() ? "-baseline" : ""}`;
}

/** Reports whether the C library is musl. The machine has the one that this Node uses. */
function isMusl() {
  const header = process.report?.getReport?.().header;
  if (header) return header.glibcVersionRuntime === undefined;
  return readdirSync("/lib").some((file) => file.startsWith("ld-musl-"));
}

/** Reports whether the processor has the instructions that the default x64 program uses. Processors before 2013 do not. */
function hasAvx2() {
  try {
    return /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
  } catch {
    return true;
  }
}

/** Makes the program executable, because some tools unpack packages without that permission. */
function withPermission(program) {
  if (!existsSync(program)) fail(`${program} is missing: install ${name} again.`);
  try {
    chmodSync(program, 0o755);
  } catch {
    // Another user has installed it, and has set the permission.
  }
  return program;
}

function fail(message) {
  process.stderr.write(`${name}: ${message}\n`);
  process.exit(EXIT_USER);
}
