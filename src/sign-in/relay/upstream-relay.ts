import { parseJsonBytes } from "../../lib/json.ts";
import { createOperatorFetch } from "../../net/operator-fetch.ts";
import { readUpTo } from "../../net/read-up-to.ts";

/** A channel that was opened at another relay, whose client app approves it there. */
export interface UpstreamChannel {
  readonly token: string;
  /** URL that opens the client app. */
  readonly url: string;
}

/** Status of a channel according to another relay. It is not trusted: the message is verified here. */
export type UpstreamStatus =
  | { readonly state: "pending" | "away" }
  | { readonly state: "completed"; readonly message: string; readonly signature: string };

/** Another relay with the same protocol, normally the one at which most users' client app approves. */
export type UpstreamRelay = ReturnType<typeof createUpstreamRelay>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const TOKEN = /^[\w-]{1,256}$/;

/** @param origin `web_signin.upstream_relay` */
export function createUpstreamRelay(origin: string) {
  const call = createOperatorFetch(origin);
  const base = origin.replace(/\/+$/, "");

  async function exchange(path: string, init: RequestInit) {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await call(`${base}/v1/channel${path}`, { ...init, signal });
      const { body, truncated } = await readUpTo(response, MAX_BYTES);
      const value: unknown = truncated ? undefined : parseJsonBytes(body);
      return typeof value === "object" && value !== null
        ? { status: response.status, value: value as Readonly<Record<string, unknown>> }
        : undefined;
    } catch {
      // If the relay is down, users can still approve in the ways that do not need it.
      return undefined;
    }
  }

  return {
    /** Opens a channel at the relay. Undefined if the relay did not open one. */
    async open(request: Readonly<Record<string, unknown>>): Promise<UpstreamChannel | undefined> {
      const response = await exchange("", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      const { channelToken, url } = response?.value ?? {};
      const isOpened =
        response?.status === 201 && typeof channelToken === "string" && TOKEN.test(channelToken);
      if (!isOpened || typeof url !== "string" || URL.parse(url)?.protocol !== "https:") return undefined;
      return { token: channelToken, url };
    },

    async status(token: string): Promise<UpstreamStatus> {
      const response = await exchange("/status", { headers: { authorization: `Bearer ${token}` } });
      if (response?.status === 202) return { state: "pending" };
      const { message, signature } = response?.value ?? {};
      return response?.status === 200 && typeof message === "string" && typeof signature === "string"
        ? { state: "completed", message, signature }
        : { state: "away" };
    },
  };
}
