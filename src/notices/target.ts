import { randomBytes } from "node:crypto";
import { parseJson } from "../lib/json.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Sealer } from "../vault/sealer.ts";
import type { Notice } from "./notice.ts";
import type { HookPreset, HookRequest, PushSubscriptionRequest } from "./report.ts";
import type { NoticeStore } from "./store/notice-store.ts";
import { arePushKeys } from "./web-push.ts";

/** A browser that has subscribed to notices. */
export type PushTarget = PushSubscriptionRequest;

/** A URL that the operator or an owner has set. */
export interface HookTarget {
  readonly kind: "hook";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON whose texts contain placeholders `{{…}}` of `PLACES`. Null: the notice itself. */
  readonly body: string | null;
  /** Signs each call, as for webhooks. */
  readonly secret: string;
}

export type NoticeTarget = PushTarget | HookTarget;

const TEXTS = ["title", "text", "severity", "state", "url", "incident"] as const;
const PLACE = /\{\{(\w*)\}\}/g;
const ALL = "{{title}}\\n{{text}} {{url}}";
const MAX_BODY_CHARS = 4096;
const MAX_HEADERS = 10;
const MAX_HEADER_CHARS = 1024;
const HEADER_NAME = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** Headers that the HTTP client and the signature set. */
const OWN_HEADERS = /^(?:host|connection|content-|transfer-|accept-encoding|te$|upgrade|webhook-)/i;
/** Topics that ntfy accepts. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
const SECRET_BYTES = 32;

/** Bodies for well-known receivers. */
export const HOOK_PRESETS = {
  json: null,
  slack: `{"text":"${ALL}"}`,
  discord: `{"content":"${ALL}","allowed_mentions":{"parse":[]}}`,
  ntfy: `{"topic":"{{to}}","title":"{{title}}","message":"{{text}}","click":"{{url}}"}`,
  telegram: `{"chat_id":"{{to}}","text":"${ALL}","disable_web_page_preview":true}`,
} as const satisfies Readonly<Record<HookPreset, string | null>>;

/** Builds the target of a hook, with a new secret. The error is a full sentence about the invalid field. */
export function hookTargetOf(request: HookRequest): Result<HookTarget, string> {
  const { preset, to = "", headers = {} } = request;
  let { url } = request;
  const template = request.body ?? HOOK_PRESETS[preset];
  let recipient = to;
  if (request.body === undefined && preset === "ntfy") {
    // ntfy accepts JSON only at its root URL, but users paste the URL of their topic.
    const parsed = URL.parse(url);
    const topic = parsed?.pathname.split("/").filter(Boolean) ?? [];
    const [name = ""] = topic;
    if (!parsed || topic.length !== 1 || !TOPIC.test(name))
      return err("url must be that of a topic, such as https://ntfy.sh/my-topic");
    url = `${parsed.origin}/`;
    recipient = name;
  }
  if (template?.includes("{{to}}") && recipient === "") return err("to is missing: the id of the chat");
  const body = template?.replaceAll("{{to}}", () => inJson(recipient)) ?? null;
  if (body !== null) {
    const problem = problemOfBody(body);
    if (problem !== undefined) return err(problem);
  }
  const entries = Object.entries(headers);
  if (entries.length > MAX_HEADERS) return err(`headers must be at most ${MAX_HEADERS}`);
  for (const [name, value] of entries) {
    if (!HEADER_NAME.test(name) || OWN_HEADERS.test(name))
      return err(`headers must not have ${JSON.stringify(name)}`);
    if (value.length > MAX_HEADER_CHARS || !HEADER_VALUE.test(value))
      return err(`the header ${name} must have 1 to ${MAX_HEADER_CHARS} printable ASCII characters`);
  }
  const secret = randomBytes(SECRET_BYTES).toString("hex");
  return ok({ kind: "hook", url, headers, body, secret });
}

/** Returns what is wrong with a body regardless of the notice; undefined if it is valid. */
function problemOfBody(body: string): string | undefined {
  if (body.length > MAX_BODY_CHARS) return `body must have at most ${MAX_BODY_CHARS} characters`;
  for (const [, name] of body.matchAll(PLACE))
    if (!TEXTS.some((text) => text === name))
      return `body has {{${name}}}: the names are ${TEXTS.join(", ")}`;
  const odd = '"\\\n';
  const filled = fill(body, Object.fromEntries(TEXTS.map((name) => [name, odd])) as Texts);
  return parseJson(filled) !== undefined
    ? undefined
    : "body must be JSON, with {{…}} inside of its texts only";
}

type Texts = Readonly<Record<(typeof TEXTS)[number], string>>;

function fill(body: string, texts: Texts): string {
  return body.replaceAll(PLACE, (_, name: keyof Texts) => inJson(texts[name]));
}

const inJson = (text: string) => JSON.stringify(text.toWellFormed()).slice(1, -1);

/**
 * Returns the request body for a hook.
 *
 * @param url URL of the page with the details, or only its path if the node does not know its own URL.
 */
export function hookBody(
  { body }: Pick<HookTarget, "body">,
  notice: Notice,
  url: string,
  service: string,
): string {
  const { path, title, ...rest } = notice;
  const named = `${service}: ${title}`;
  if (body === null)
    return JSON.stringify({ type: `incident.${notice.state}`, service, ...rest, title: named, url });
  return fill(body, { ...rest, title: named, url });
}

/** Reports whether the host of a push service is listed. `*.` matches one or more labels. */
export function isPushHost(endpoint: string, hosts: readonly string[]): boolean {
  const name = URL.parse(endpoint)?.hostname;
  if (name === undefined) return false;
  return hosts.some((host) => (host.startsWith("*.") ? name.endsWith(host.slice(1)) : name === host));
}

/** Builds the target of a browser's subscription. The error is a full sentence about the invalid field. */
export function pushTargetOf(
  { endpoint, keys }: Omit<PushTarget, "kind">,
  hosts: readonly string[],
): Result<PushTarget, string> {
  if (!isPushHost(endpoint, hosts))
    return err("endpoint is at a push service that notify.push_hosts does not list");
  if (!arePushKeys(keys)) return err("keys are not valid push keys of a browser");
  return ok({ kind: "push", endpoint, keys });
}

/** A secret as it is stored: sealed under a master key or, without one, plain, like the secrets of webhooks. */
export interface StoredSecret {
  readonly secret: Uint8Array;
  /** Id of the master key. Empty if the secret is plain. */
  readonly keyId: string;
}

export function storeSecret(sealer: Sealer | undefined, holder: string, plain: Uint8Array): StoredSecret {
  if (!sealer) return { secret: plain, keyId: "" };
  const { sealed, keyId } = sealer.seal(Buffer.from(holder), plain);
  return { secret: sealed, keyId };
}

/** Opens a secret that `storeSecret` has stored. Undefined if it is sealed under a master key that the settings do not contain. */
export function openSecret(
  sealer: Sealer | undefined,
  holder: string,
  { secret, keyId }: StoredSecret,
): Uint8Array | undefined {
  if (keyId === "") return secret;
  return sealer?.knows(keyId) ? sealer.open(Buffer.from(holder), { sealed: secret, keyId }) : undefined;
}

/** Reseals the secrets of channels and the VAPID key under the current master key. Returns the number of resealed secrets. */
export async function resealNotices(
  store: Pick<NoticeStore, "list" | "vapidKey" | "reseal">,
  sealer: Sealer,
): Promise<number> {
  const key = await store.vapidKey();
  const held = [
    ...(await store.list()).map(({ channelId, secret, keyId }) => ({ id: channelId, secret, keyId })),
    ...(key ? [{ id: key.publicKey, secret: key.secret, keyId: key.keyId }] : []),
  ];
  let count = 0;
  for (const { id, secret, keyId } of held) {
    const plain = keyId === sealer.keyId ? undefined : openSecret(sealer, id, { secret, keyId });
    if (plain && (await store.reseal(id, secret, storeSecret(sealer, id, plain)))) count += 1;
  }
  return count;
}
