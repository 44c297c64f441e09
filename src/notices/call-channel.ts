import { retryAfterMs } from "../net/backoff.ts";
import type { OutboundCall, OutboundClient } from "../net/client.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { SenderSettings } from "../webhooks/deliver/call-receiver.ts";
import { signedHeaders } from "../webhooks/deliver/sign.ts";
import type { Notice } from "./notice.ts";
import { type HookTarget, hookBody, type NoticeTarget, type PushTarget } from "./target.ts";
import { encryptPush, MAX_PUSH_BYTES, type VapidKey, vapidAuthorization } from "./web-push.ts";

/**
 * Outcome of a call. `gone`: the browser has ended its subscription. `later`: a retry may succeed, but not before `waitSecs`. `failed`: a
 * retry would fail too. `error` is a short text for the operator.
 */
export type CallEnd =
  | { readonly kind: "taken" | "gone" }
  | { readonly kind: "later"; readonly error: string; readonly waitSecs: number }
  | { readonly kind: "failed"; readonly error: string };

export interface CallChannelDeps {
  readonly client: OutboundClient;
  readonly clock: Clock;
  readonly sender: SenderSettings;
  /** Name of the service. */
  readonly service: string;
  /** Without a trailing slash. Empty if the node does not know its own URL; notices then contain only the path of their page. */
  readonly publicUrl: string;
  /** See `vapidAuthorization`. */
  readonly contact: string;
}

const TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 1024;
const MAX_RETRY_AFTER_MS = 3600_000;
/** After four hours the next reminder replaces a message anyway. */
const TTL_SECS = 4 * 3600;
const GONE: readonly number[] = [404, 410];
const TRANSIENT: readonly number[] = [408, 425, 429];
const NO_KEY: CallEnd = {
  kind: "failed",
  error: "the key for push services is sealed under a master key that the settings do not have",
};

/**
 * Sends a notice to a channel.
 *
 * @param id identical for each attempt.
 */
export type CallChannel = (target: NoticeTarget, notice: Notice, id: string) => Promise<CallEnd>;

export function createCallChannel(
  deps: CallChannelDeps,
  vapidKey: () => Promise<VapidKey | undefined>,
): CallChannel {
  const { client, clock, sender, service, publicUrl } = deps;
  const common = { method: "POST", timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_RESPONSE_BYTES } as const;

  function pushCall({ endpoint, keys }: PushTarget, notice: Notice, key: VapidKey): OutboundCall {
    const { incident, state, severity, title, text, path } = notice;
    const shown = { title: `${service}: ${title}`, body: text, tag: incident || state, path };
    let message = Buffer.from(JSON.stringify(shown));
    if (message.byteLength > MAX_PUSH_BYTES) message = Buffer.from(JSON.stringify({ ...shown, body: "" }));
    return {
      ...common,
      url: endpoint,
      headers: {
        authorization: vapidAuthorization(key, { endpoint, contact: deps.contact, nowSecs: nowSecs(clock) }),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(TTL_SECS),
        urgency: severity === "critical" ? "high" : "normal",
        // A later message of an incident replaces one that the push service has not delivered yet.
        topic: incident || state,
        "user-agent": sender.userAgent,
      },
      body: encryptPush(message, keys),
    };
  }

  function hookCall(target: HookTarget, notice: Notice, id: string): OutboundCall {
    const body = hookBody(target, notice, `${publicUrl}${notice.path}`, service);
    const timestamp = nowSecs(clock);
    const secret = { uid: "", value: target.secret, createdAt: 0, expiresAt: null };
    return {
      ...common,
      url: target.url,
      headers: {
        "user-agent": sender.userAgent,
        ...target.headers,
        "content-type": "application/json",
        ...signedHeaders({ messageId: id, timestamp, body }, [secret], [sender.signatureHeader]),
      },
      body,
    };
  }

  return async (target, notice, id) => {
    const isPush = target.kind === "push";
    const key = isPush ? await vapidKey() : undefined;
    if (isPush && !key) return NO_KEY;
    const call =
      target.kind === "push" ? pushCall(target, notice, key as VapidKey) : hookCall(target, notice, id);
    const outcome = await client.request(call);
    if (!outcome.ok) {
      const { kind, message } = outcome.error;
      return kind === "refused" || kind === "redirect"
        ? { kind: "failed", error: message }
        : { kind: "later", error: message, waitSecs: 0 };
    }
    const { status, headers } = outcome.value;
    if (status < 300) return { kind: "taken" };
    if (isPush && GONE.includes(status)) return { kind: "gone" };
    const error = `the response was ${status}`;
    if (status < 500 && !TRANSIENT.includes(status)) return { kind: "failed", error };
    const waitMs = retryAfterMs(headers.get("retry-after"), clock.nowMs(), MAX_RETRY_AFTER_MS);
    return { kind: "later", error, waitSecs: Math.ceil(waitMs / 1000) };
  };
}
