import { ApiError } from "./errors.ts";

/** What an API key may be used for. No scope implies another. */
export const SCOPES = ["read", "write", "signers", "webhooks", "apps", "push", "moderate"] as const;

export type Scope = (typeof SCOPES)[number];

/** A request with a valid API key. It acts for the owner of the key, within its scopes. */
export interface ApiKeyCaller {
  readonly kind: "apiKey";
  readonly apiKeyId: string;
  readonly ownerFid: number;
  /** The custody address that the key is bound to, 20 bytes. */
  readonly custody: Uint8Array;
  readonly scopes: readonly Scope[];
  /** The mini app for which the key acts; null for its owner's only one. */
  readonly appId: string | null;
  /** The version of its owner's bans and private mutes; 0 for an owner who never had any. */
  readonly rulesVersion: number;
  /** The visible part of its text, such as `svc_8FqZ2rTa`. */
  readonly prefix: string;
  readonly unitsPerMinute: number;
  readonly writesPerMinute: number;
}

/** Who sends a request, as far as the edge knows: signatures of requests are verified later, by the signed routes. */
export type Caller = { readonly kind: "anonymous" } | ApiKeyCaller;

export const ANONYMOUS: Caller = { kind: "anonymous" };

/** One message for all causes, so that it reveals nothing about the key. `header` is how the client sends it. */
export const keyRequired = (header: string) =>
  `a valid API key is required: send "${header} <key>" (docs/api-keys.md#make-a-key)`;

export const invalidKey = (message = keyRequired("x-api-key:")) =>
  new ApiError("unauthorized", message, { code: "invalid_key" });

/** Returns the error for a valid key without the scope. */
export const missingScope = (scope: Scope) =>
  new ApiError("forbidden", `the key lacks the scope ${JSON.stringify(scope)}`, { code: "missing_scope" });
