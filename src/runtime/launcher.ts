const LAUNCHER_PID = "SVC_LAUNCHER_PID";
const POLL_INTERVAL_MS = 1000;

/**
 * Ends this process, as SIGTERM does, once the launcher of the npm package that has started it no longer runs: killed by `kill -9`, it
 * passes no signal on. Does nothing without a launcher, which names its process id in the environment.
 */
export function endWithLauncher(): void {
  const launcher = Number(process.env[LAUNCHER_PID]);
  // Children of this process have another parent.
  delete process.env[LAUNCHER_PID];
  if (!Number.isSafeInteger(launcher) || launcher <= 0) return;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, POLL_INTERVAL_MS);
  timer.unref();
}
