import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type Clock, nowSecs } from "../runtime/clock.ts";

/** Lifetime of a token, in seconds. */
const TOKEN_SECS = 300;
const TAG_CHARS = 32;
const PURPOSE = "mcp-confirm";
const TOKEN = /^([0-9a-z]{1,11})\.([0-9a-f]{32})$/;

/** Tokens that confirm that exactly one write was previewed. They are not stored. */
export type ConfirmTokens = ReturnType<typeof createConfirmTokens>;

/**
 * @param key from the state, which replaces it after a restore from a backup; from the process if there is no state.
 * @param owner owner of the tokens, such as the id of an API key. Tokens of another owner are not accepted.
 */
export function createConfirmTokens({
  key,
  owner,
  clock,
}: {
  readonly key: () => Promise<Uint8Array>;
  readonly owner: string;
  readonly clock: Clock;
}) {
  const tagOf = async (expiresAt: number, shown: readonly unknown[]) =>
    createHmac("sha256", await key())
      .update(`${PURPOSE}\0${JSON.stringify([expiresAt, owner, ...shown])}`)
      .digest("hex")
      .slice(0, TAG_CHARS);
  return {
    /** Creates a token for the values that a preview has shown. */
    async issue(shown: readonly unknown[]): Promise<{ readonly token: string; readonly expiresAt: number }> {
      const expiresAt = nowSecs(clock) + TOKEN_SECS;
      return { token: `${expiresAt.toString(36)}.${await tagOf(expiresAt, shown)}`, expiresAt };
    },

    /** Returns the idempotency key of a write whose token is for `shown`, or the reason why the token is refused. */
    async check(
      token: string,
      shown: readonly unknown[],
    ): Promise<{ readonly idem: string } | { readonly refusal: string }> {
      const [, expiry = "", tag = ""] = TOKEN.exec(token) ?? [];
      const expiresAt = Number.parseInt(expiry, 36);
      const isOfWrite =
        tag !== "" && timingSafeEqual(Buffer.from(await tagOf(expiresAt, shown)), Buffer.from(tag));
      if (!isOfWrite)
        return {
          refusal: "confirm is not the token of this write: call again without it, and show what is new",
        };
      if (expiresAt < nowSecs(clock))
        return { refusal: "confirm has expired: call again without it, and show the preview again" };
      return { idem: `${PURPOSE}-${createHash("sha256").update(token).digest("hex").slice(0, TAG_CHARS)}` };
    },
  };
}
