/**
 * Returns a command that starts a program in the background, with the same stdout. When a test runs out of time, bun kills the
 * processes that it has started, and with them one that the tests after it share: this one is not the test's own.
 */
export function inBackground(command: readonly string[]): string[] {
  return ["/bin/sh", "-c", '"$@" &', "sh", ...command];
}
