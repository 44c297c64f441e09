const LAUNCHER_PID = "SVC_LAUNCHER_PID";
const POLL_INTERVAL_MS = 1000;

/**
 * Ends this process, like SIGTERM, once the npm package's launcher that started it no longer runs: if it is killed by `kill -9`, it
 * cannot pass a signal on. Does nothing without a launcher, which passes its process id in the environment.
 */
export function endWithLauncher(): void {
  const launcher = Number(process.env[LAUNCHER_PID]);
  // Children of this process have a different parent.
  delete process.env[LAUNCHER_PID];
  if (!Number.isSafeInteger(launcher) || launcher <= 0) return;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, POLL_INTERVAL_MS);
  timer.unref();
}
