/** A request that failed, or one of the slowest. */
export interface NotableResponse {
  readonly atMs: number;
  readonly method: string;
  /** The template of its route. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  /** The prefix of its API key; null without a key. */
  readonly keyPrefix: string | null;
}

/** The failed requests of one HTTP worker, and its slowest ones, since they were last taken. */
export type NotableRequests = ReturnType<typeof createNotableRequests>;

const MAX_FAILED = 100;
const SLOWEST = 20;

/** Reports whether a status is a fault: 501 only means that something is not available. */
const isFault = (status: number): boolean => status >= 500 && status !== 501;

export function createNotableRequests() {
  let failed: NotableResponse[] = [];
  /** Slowest first. */
  let slow: NotableResponse[] = [];
  return {
    /** Reports whether a response should be noted. Few are, so the others need not be described. */
    isNotable(status: number, ms: number): boolean {
      if (isFault(status)) return failed.length < MAX_FAILED;
      const last = slow[SLOWEST - 1];
      return last === undefined || last.ms < ms;
    },
    /** Notes a response that is notable. */
    note(response: NotableResponse): void {
      if (isFault(response.status)) {
        failed.push(response);
        return;
      }
      const at = slow.findIndex(({ ms }) => ms < response.ms);
      slow.splice(at === -1 ? slow.length : at, 0, response);
      if (slow.length > SLOWEST) slow.pop();
    },
    take(): readonly NotableResponse[] {
      const taken = [...failed, ...slow];
      failed = [];
      slow = [];
      return taken;
    },
  };
}
