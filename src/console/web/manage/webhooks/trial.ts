import { useEffect, useRef, useState } from "preact/hooks";
import { RequestFailure } from "../../data/request.ts";
import { owner } from "../../owner/owner.ts";
import { type SignedCall, sessionRequest } from "../../owner/session-request.ts";
import { apiPrefix } from "../../page-config.ts";
import type { Subscription } from "./filter-state.ts";
import type { Preview } from "./webhook.ts";

/** The node allows ten a minute; the last one is left for the button. */
const MAX_PER_MINUTE = 9;
const MINUTE_MS = 60_000;
const TYPING_MS = 700;

export const trialCall = (subscription: Subscription): SignedCall => ({
  method: "POST",
  path: `${apiPrefix}/webhook/preview`,
  op: "webhook.read",
  body: { subscription, events: 1000 },
  cli: "webhook preview --subscription -",
  cliInput: subscription,
});

/** A subscription tried on the events that the node still has. */
export interface Trial {
  /** What the last try found; of another subscription while `isDue`. */
  readonly preview: Preview | undefined;
  readonly failure: RequestFailure | undefined;
  readonly isBusy: boolean;
  /** Whether the page will try the subscription by itself, or is trying it. */
  readonly isDue: boolean;
  readonly hasSession: boolean;
  run(): void;
  /** What the subscription as it is now would have caught; undefined without a session if it was not tried. @throws RequestFailure 400 */
  latest(): Promise<Preview | undefined>;
}

/**
 * Tries a subscription as it changes. Without a session each try costs a prompt, so it waits for `run`.
 *
 * @param subscription undefined while the form has problems.
 * @param onRefusal gets the words of the API, undefined when it has none.
 */
export function useTrial(
  subscription: Subscription | undefined,
  onRefusal: (message: string | undefined) => void,
): Trial {
  const [preview, setPreview] = useState<Preview>();
  const [failure, setFailure] = useState<RequestFailure>();
  const [isBusy, setBusy] = useState(false);
  /** The subscription that the last try was of. */
  const [tried, setTried] = useState<string>();
  /** When the last tries were made. */
  const triedMs = useRef<readonly number[]>([]);
  const text = subscription && JSON.stringify(subscription);
  const lastTried = useRef<string>(undefined);
  const hasSession = owner.value?.session !== undefined;

  async function run(signal?: AbortSignal): Promise<Preview | RequestFailure | undefined> {
    if (!subscription) return undefined;
    triedMs.current = [...triedMs.current, performance.now()].slice(-MAX_PER_MINUTE);
    setBusy(true);
    try {
      const found = await sessionRequest<Preview>(trialCall(subscription), signal ? { signal } : {});
      setPreview(found);
      setFailure(undefined);
      onRefusal(undefined);
      return found;
    } catch (cause) {
      if (signal?.aborted || !(cause instanceof RequestFailure)) return undefined;
      setFailure(cause);
      onRefusal(cause.status === 400 ? cause.message : undefined);
      return cause;
    } finally {
      if (!signal?.aborted) {
        setBusy(false);
        setTried(text);
        lastTried.current = text;
      }
    }
  }

  useEffect(() => {
    if (text === undefined || !hasSession || tried === text) return;
    const abort = new AbortController();
    const [oldest = 0] = triedMs.current;
    const mayAtMs = triedMs.current.length < MAX_PER_MINUTE ? 0 : oldest + MINUTE_MS;
    const waitMs = Math.max(TYPING_MS, mayAtMs - performance.now());
    const tryIt = () => {
      // The form may have asked meanwhile.
      if (lastTried.current !== text) void run(abort.signal);
    };
    const timer = setTimeout(tryIt, preview || failure ? waitMs : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
      setBusy(false);
    };
  }, [text, hasSession]);

  return {
    preview,
    failure,
    isBusy,
    isDue: hasSession && text !== undefined && tried !== text,
    hasSession,
    run: () => void run(),
    async latest() {
      if (tried === text && !failure) return preview;
      const outcome = hasSession ? await run() : undefined;
      if (outcome instanceof RequestFailure && outcome.status === 400) throw outcome;
      return outcome instanceof RequestFailure ? undefined : outcome;
    },
  };
}
