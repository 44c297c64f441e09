import { get } from "../../data/call.ts";
import type { Page } from "../../data/pages.ts";
import { shellQuote } from "../../data/snippets.ts";
import type { SignedCall } from "../../owner/session-request.ts";
import type { Subscription } from "./filter-state.ts";

/** The records of webhooks as the API has them, and the calls for them. Times are unix seconds. */

export interface Secret {
  readonly uid: string;
  /** Null in responses to a session. */
  readonly value: string | null;
  readonly standard_secret: string | null;
  readonly expires_at: number | null;
  readonly created_at: number;
}

export interface Webhook {
  readonly webhook_id: string;
  readonly target_url: string;
  readonly title: string;
  readonly description: string | null;
  readonly active: boolean;
  readonly secrets: readonly Secret[];
  readonly subscription: Subscription;
  readonly last_success_at: number | null;
  readonly last_failure_at: number | null;
  readonly consecutive_failures: number;
  readonly queued_deliveries: number;
  readonly dropped_deliveries: number;
  readonly deactivated_at: number | null;
  readonly deactivation_reason: string | null;
  readonly created_at: number;
}

export interface Attempt {
  readonly attempted_at: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly response: string;
}

export const DELIVERY_STATES = ["queued", "delivered", "failed", "dropped"] as const;

export interface Delivery {
  readonly message_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly test: boolean;
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly created_at: number;
  readonly next_attempt_at: number | null;
  readonly ended_at: number | null;
  readonly attempts: readonly Attempt[];
}

export interface DeliveryWithRequest {
  readonly delivery: Delivery;
  readonly request: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
}

export interface Stats {
  readonly step_secs: number;
  readonly buckets: readonly {
    readonly at: number;
    readonly delivered: number;
    readonly failed: number;
    readonly p50_ms: number | null;
    readonly p95_ms: number | null;
  }[];
}

export interface Preview {
  readonly scanned: number;
  readonly from: number | null;
  readonly to: number | null;
  readonly matched: number;
  readonly fell_to: Readonly<Record<string, number>>;
  readonly samples: readonly {
    readonly type: string;
    readonly created_at: number;
    readonly data: unknown;
  }[];
}

const OP = "webhook.read";
export const webhookPage = (id: string) => `/console/manage/webhooks/${encodeURIComponent(id)}`;
export const deliveryPage = (id: string, messageId: string) =>
  `${webhookPage(id)}/${encodeURIComponent(messageId)}`;

export const listCall: SignedCall = { ...get("/webhook/list"), op: OP, cli: "webhook list" };

export const webhookCall = (id: string): SignedCall => ({
  ...get("/webhook", { webhook_id: id }),
  op: OP,
  cli: `webhook get ${id}`,
});

export const statsCall = (id: string, hours: number): SignedCall => ({
  ...get("/webhook/stats", { webhook_id: id, hours }),
  op: OP,
  cli: `webhook stats ${id} --hours ${hours}`,
});

export const deliveryCall = (id: string, messageId: string): SignedCall => ({
  ...get("/webhook/delivery", { webhook_id: id, message_id: messageId }),
  op: OP,
  cli: `webhook delivery ${id} ${messageId}`,
});

/** The fields of a webhook as arguments of `webhook create` and `webhook update`; without the subscription, which they read as JSON. */
export const webhookFlags = ({ name, url, description }: Readonly<Record<string, unknown>>) =>
  [
    name === undefined ? "" : ` --name ${shellQuote(String(name))}`,
    url === undefined ? "" : ` --target-url ${shellQuote(String(url))}`,
    description === undefined
      ? ""
      : description === null
        ? " --no-description"
        : ` --description ${shellQuote(String(description))}`,
  ].join("");

/** What a list of deliveries selects; as the parameters of the API and of the page. */
export interface DeliverySelection {
  readonly state?: string | undefined;
  readonly type?: string | undefined;
  readonly test?: string | undefined;
}

export const deliveriesCall = (id: string, { state, type, test }: DeliverySelection): SignedCall => ({
  ...get("/webhook/deliveries", { webhook_id: id, state, type, test, limit: 25 }),
  op: OP,
  cli: [
    `webhook deliveries ${id} --limit 25`,
    ...(state === undefined ? [] : [`--state ${state}`]),
    ...(type === undefined ? [] : [`--type ${type}`]),
    ...(test === undefined ? [] : [test === "true" ? "--test" : "--no-test"]),
  ].join(" "),
});

export const deliveriesOf = (body: {
  deliveries: readonly Delivery[];
  next: { cursor: string | null };
}): Page<Delivery> => ({ items: body.deliveries, next: body.next.cursor });

/** What a receiver said last, in a word: a status, or the class of the error. */
export function lastAnswer({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (!last) return "not tried yet";
  return last.status === null ? (last.error ?? "no answer").replaceAll("_", " ") : `answered ${last.status}`;
}

/** Whether something waits for a call of the webhook. */
export const isWaiting = ({ active, queued_deliveries }: Webhook): boolean => active && queued_deliveries > 0;
