import type { Severity } from "../checks/check.ts";

/** A notification channel, for the operator. Times are unix seconds. */
export interface ChannelReport {
  readonly id: string;
  readonly kind: "push" | "hook";
  readonly label: string;
  readonly host: string;
  readonly severity: Severity;
  /** Empty for all checks. */
  readonly checks: readonly string[];
  /** Such as "22:00-07:00 Europe/Berlin". */
  readonly quiet_hours: string | null;
  readonly created_at: number;
  /** Time of the last call. Null before the first one. */
  readonly last_at: number | null;
  /** Error of the last call. Null if it succeeded. */
  readonly last_error: string | null;
}

/** A check that a channel can be limited to. */
export interface NamedCheck {
  readonly check: string;
  readonly title: string;
}

/** Channels of the operator. */
export interface ChannelsReport {
  readonly channels: readonly ChannelReport[];
  readonly checks: readonly NamedCheck[];
  /** Whether the node sends to browsers, which it does if `notify.push_hosts` lists a push service. */
  readonly push: boolean;
}

/** Format of a well-known receiver. `json`: the notice itself. */
export type HookPreset = "json" | "slack" | "discord" | "ntfy" | "telegram";

/** Settings of a new hook. */
export interface HookRequest {
  readonly url: string;
  readonly preset: HookPreset;
  /** For `telegram`: the id of the chat. */
  readonly to?: string;
  /** JSON that replaces the body of the preset. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Push subscription of a browser (RFC 8030, RFC 8291). */
export interface PushSubscriptionRequest {
  readonly kind: "push";
  /** URL at its push service. Anyone who has it and the keys can send messages to the browser. */
  readonly endpoint: string;
  readonly keys: PushKeys;
}

/** Keys that a browser hands to its senders (RFC 8291, section 3.2), in base64url. */
export interface PushKeys {
  /** Public key of the browser: an uncompressed point on P-256. */
  readonly p256dh: string;
  /** 16 random bytes. */
  readonly auth: string;
}

/** Which incidents a channel receives, and when. An update keeps the members that it does not name. */
export interface ChannelTerms {
  readonly label: string;
  /** Lowest severity that the channel receives. Default: `critical` for the operator, all for an owner. */
  readonly severity?: Severity;
  readonly checks?: readonly string[];
  /** Such as "22:00-07:00". An empty text removes the quiet hours. */
  readonly quiet_hours?: string;
  /** Time zone of the quiet hours. Default: UTC. */
  readonly zone?: string;
}

/** Request that adds a channel. */
export type ChannelRequest = ChannelTerms &
  (({ readonly kind: "hook" } & HookRequest) | PushSubscriptionRequest);

/** Result of a change. `id` is the channel's. `push_key` is set for the action `key`, `secret` for an added hook. */
export interface NoticeChanged {
  readonly id?: string;
  readonly push_key?: string;
  readonly secret?: string | null;
}
