import type { Config } from "../config/schema.ts";
import { RetryableError, UserError } from "../lib/failure.ts";

/**
 * Refuses an address that cannot be listened on, before anything is started: a listener of a worker could only tell the
 * system's words, and on a port that HTTP workers share a second node would join in unnoticed.
 *
 * @param section of the settings that the address stands in.
 * @throws RetryableError where another process listens there, UserError where nobody can.
 */
export function checkListenAddress(
  section: "http" | "hub",
  { host, port }: Pick<Config["http"], "host" | "port">,
): void {
  // The system chooses a free one, or nothing listens.
  if (port <= 0) return;
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const variable = `SVC_${section.toUpperCase()}_PORT`;
    if (code === "EADDRINUSE") {
      throw new RetryableError(
        `port ${port} is in use: another process listens on ${host}. The setting is ${section}.port (${variable})`,
        { cause },
      );
    }
    if (code === "EACCES")
      throw new UserError(`this user may not listen on port ${port} (${section}.port, ${variable})`, {
        cause,
      });
    throw new UserError(`${host} is no address of this machine (${section}.host)`, { cause });
  }
}
