/** The failed attempts of each client within a minute. */
export interface AttemptLimit {
  /** Seconds until a client may try again; undefined while it may. */
  waitSecs(client: string): number | undefined;
  countFailure(client: string): void;
}

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
/** The oldest client beyond it is forgotten. What is guessed here is far too long to be guessed by that. */
const MAX_CLIENTS = 1024;

/** @param monotonicMs default: the process's monotonic clock. */
export function createAttemptLimit(monotonicMs: () => number = () => performance.now()): AttemptLimit {
  const failures = new Map<string, { sinceMs: number; count: number }>();

  const recent = (client: string) => {
    const found = failures.get(client);
    if (found === undefined || monotonicMs() - found.sinceMs < WINDOW_MS) return found;
    failures.delete(client);
    return undefined;
  };

  return {
    waitSecs(client) {
      const found = recent(client);
      if (found === undefined || found.count < MAX_FAILURES) return undefined;
      return Math.max(1, Math.ceil((found.sinceMs + WINDOW_MS - monotonicMs()) / 1000));
    },
    countFailure(client) {
      const found = recent(client);
      if (found) {
        found.count += 1;
        return;
      }
      failures.set(client, { sinceMs: monotonicMs(), count: 1 });
      const [oldest] = failures.keys();
      if (failures.size > MAX_CLIENTS && oldest !== undefined) failures.delete(oldest);
    },
  };
}
