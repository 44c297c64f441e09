import type { Severity } from "../checks/check.ts";

/** A channel of notices as the operator sees it. Times are unix seconds. */
export interface ChannelReport {
  readonly id: string;
  readonly kind: "push" | "hook";
  readonly label: string;
  readonly host: string;
  readonly severity: Severity;
  /** Empty: all. */
  readonly checks: readonly string[];
  /** As "22:00-07:00 Europe/Berlin". */
  readonly quiet_hours: string | null;
  readonly created_at: number;
  /** When it was last called; null before the first call. */
  readonly last_at: number | null;
  /** Why it was not taken; null where it was. */
  readonly last_error: string | null;
}

/** A check that a channel may be narrowed to. */
export interface NamedCheck {
  readonly check: string;
  readonly title: string;
}

/** The channels of the operator. */
export interface ChannelsReport {
  readonly channels: readonly ChannelReport[];
  readonly checks: readonly NamedCheck[];
  /** Whether the node sends to browsers: `notify.push_hosts` lists a push service. */
  readonly push: boolean;
}

/** A format that a well-known receiver takes; `json`: the notice as it is. */
export type HookPreset = "json" | "slack" | "discord" | "ntfy" | "telegram";

/** What a hook is made of. */
export interface HookRequest {
  readonly url: string;
  readonly preset: HookPreset;
  /** Of `telegram`: the id of the chat. */
  readonly to?: string;
  /** JSON; instead of that of the preset. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The subscription of a browser (RFC 8030, RFC 8291). */
export interface PushSubscriptionRequest {
  readonly kind: "push";
  /** The URL of its push service. With it and the keys anyone can send to the browser. */
  readonly endpoint: string;
  readonly keys: PushKeys;
}

/** What a browser gives to those who may send it messages (RFC 8291, 3.2), in base64url. */
export interface PushKeys {
  /** Its public key: an uncompressed point of P-256. */
  readonly p256dh: string;
  /** 16 random bytes. */
  readonly auth: string;
}

/** Who is called for which incidents, and when. A change of a channel keeps what it does not name. */
export interface ChannelTerms {
  readonly label: string;
  /** The lowest that it gets. Default: `critical` for the operator, all for an owner. */
  readonly severity?: Severity;
  readonly checks?: readonly string[];
  /** As "22:00-07:00"; empty: none, also of a channel that had some. */
  readonly quiet_hours?: string;
  /** Of these hours; default: UTC. */
  readonly zone?: string;
}

/** What makes a channel. */
export type ChannelRequest = ChannelTerms &
  (({ readonly kind: "hook" } & HookRequest) | PushSubscriptionRequest);

/** What a change gives. `id` is the channel's; `push_key` of `key`, `secret` of an added hook. */
export interface NoticeChanged {
  readonly id?: string;
  readonly push_key?: string;
  readonly secret?: string | null;
}
