import type { StaleReason } from "../auth/owners/custody.ts";
import { basePathOf, type ServiceNames } from "../config/names.ts";
import {
  ANONYMOUS,
  type ApiKeyCaller,
  invalidKey,
  keyRequired,
  missingScope,
  type Scope,
} from "../http/caller.ts";
import { ApiError } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Gate } from "../http/gate.ts";
import type { RequestLimits } from "../http/limits/request-limits.ts";
import type { Access, RouteTerms } from "../http/route-terms.ts";
import type { KeyLookup } from "./key-lookup.ts";
import { isMeantAsKey } from "./key-text.ts";
import type { UsageRecorder } from "./usage-recorder.ts";

export interface GateDeps {
  readonly names: ServiceNames;
  /** `service.compat_prefixes`. */
  readonly compatPrefixes: readonly string[];
  /** `auth.sessions`. If false, session headers are ignored. */
  readonly sessions: boolean;
  /** `http.anonymous`. */
  readonly anonymousReads: boolean;
  readonly keys: KeyLookup;
  readonly limits: RequestLimits;
  readonly usage: Pick<UsageRecorder, "record">;
  /** While this returns a reason, custody addresses in the index may be outdated. */
  readonly staleReason: StaleReason;
}

/** Headers in which clients of the hosted API send their key. Older clients use the second one. */
const KEY_HEADERS = ["x-api-key", "api_key"] as const;
const SIGNATURE_HEADERS = ["Fid", "Op", "Signed-At", "Nonce", "Signature"] as const;
const SESSION_HEADER = "Session";
/** Routes on which an anonymous client is counted by its address. Other routes verify a credential of their own. */
const COUNTED_WITHOUT_KEY: ReadonlySet<Access["kind"]> = new Set([
  "read",
  "openRead",
  "anonymousOrKey",
  "keyUnlessRead",
  "bearer",
]);
/** Scopes that a new custody address must be able to cut off at once. */
const NEED_CURRENT_INDEX: ReadonlySet<Scope> = new Set(["webhooks", "apps", "signers"]);

/** Returns the text that a client sends as its key; empty if there is none. */
export function keyTextOf(headers: Headers): string {
  for (const name of KEY_HEADERS) {
    const text = headers.get(name);
    if (text !== null && text !== "") return text;
  }
  return "";
}

const BEARER = /^Bearer +([\x21-\x7e]+)$/i;

/** Returns the text that an MCP client sends as its key. Undefined without the header, empty for another scheme. */
export function bearerOf(headers: Headers): string | undefined {
  const header = headers.get("authorization");
  return header === null ? undefined : (BEARER.exec(header)?.[1] ?? "");
}

/**
 * Creates the gate of the HTTP interface, which decides which credential of a request counts: a signature, including one by a session,
 * which its route verifies; otherwise a key; otherwise none. An invalid credential never falls back to the next kind. Keys count in the
 * compat dialect, and on all routes if anonymous reads are disabled.
 */
export function createGate(deps: GateDeps): Gate {
  const { names, compatPrefixes, sessions, keys, limits, usage, staleReason } = deps;
  const compatPaths = compatPrefixes.map((prefix) => `${basePathOf(prefix)}/`);
  const signatureHeaders = [...SIGNATURE_HEADERS, ...(sessions ? [SESSION_HEADER] : [])].map(
    (name) => names.headerPrefix + name,
  );
  const isCompat = (path: string) => compatPaths.some((base) => path.startsWith(base));
  const isSigned = ({ headers }: Request) => signatureHeaders.some((name) => headers.has(name));
  const isKey = (text: string) => isMeantAsKey(text, names.segment);

  /** Admits a key. From now on its uses are counted, even if it lacks the scope. */
  function admitCaller(exchange: Exchange, caller: ApiKeyCaller | undefined, scope: Scope): void {
    if (caller === undefined) {
      limits.count(exchange, "unknownKeys");
      throw invalidKey();
    }
    exchange.caller = caller;
    if (caller.scopes.includes(scope)) return;
    throw missingScope(scope);
  }

  /** Reports whether a long-running request may continue: its key is still valid and still has the scope. */
  const stillAdmits = (
    scope: Scope,
    find: () => ApiKeyCaller | undefined | Promise<ApiKeyCaller | undefined>,
  ) => {
    return async () => (await find())?.scopes.includes(scope) ?? false;
  };

  /**
   * Admits a request that needs no credential, as long as the operator does not close anonymous reads. Afterwards a key that it has sent
   * nevertheless decides.
   */
  function admitAnonymous(exchange: Exchange, scope: Scope = "read"): void {
    exchange.isStillAdmitted = async () => {
      if (deps.anonymousReads) return true;
      const text = keyTextOf(exchange.request.headers);
      return isKey(text) && stillAdmits(scope, () => keys.findForRead(text))();
    };
  }

  function admitRead(exchange: Exchange): void | Promise<void> {
    if (deps.anonymousReads && !isCompat(exchange.path)) return admitAnonymous(exchange);
    const text = keyTextOf(exchange.request.headers);
    if (!isKey(text)) {
      if (deps.anonymousReads) return admitAnonymous(exchange);
      throw invalidKey();
    }
    exchange.isStillAdmitted = stillAdmits("read", () => keys.known(text) ?? keys.findForRead(text));
    const known = keys.known(text);
    if (known !== undefined) {
      admitCaller(exchange, known, "read");
      return undefined;
    }
    return keys.findForRead(text).then((caller) => admitCaller(exchange, caller, "read"));
  }

  async function admitKey(exchange: Exchange, scope: Scope): Promise<void> {
    const text = keyTextOf(exchange.request.headers);
    if (!isKey(text) || isSigned(exchange.request)) throw invalidKey();
    exchange.isStillAdmitted = stillAdmits(scope, () => keys.find(text));
    admitCaller(exchange, await keys.find(text), scope);
    const stale = NEED_CURRENT_INDEX.has(scope) ? await staleReason() : undefined;
    if (stale !== undefined) throw new ApiError("unavailable", `this key has to wait: ${stale}`);
  }

  /** A credential that is sent always counts, even if none is required. */
  async function admitBearer(exchange: Exchange): Promise<void> {
    const text = bearerOf(exchange.request.headers);
    if (text === undefined && deps.anonymousReads) return admitAnonymous(exchange);
    const find = () => (text !== undefined && isKey(text) ? keys.findForRead(text) : undefined);
    exchange.isStillAdmitted = stillAdmits("read", find);
    const caller = await find();
    if (caller === undefined) {
      if (text !== undefined) limits.count(exchange, "unknownKeys");
      throw new ApiError("unauthorized", keyRequired("authorization: Bearer"), {
        code: "invalid_key",
        scheme: "Bearer",
      });
    }
    admitCaller(exchange, caller, "read");
  }

  function admitTo(exchange: Exchange, access: Access): void | Promise<void> {
    const { request, path } = exchange;
    switch (access.kind) {
      case "open":
      case "openRead":
        return undefined;
      case "read":
        return admitRead(exchange);
      case "bearer":
        return admitBearer(exchange);
      case "anonymousOrKey":
        return deps.anonymousReads
          ? admitAnonymous(exchange, access.scope)
          : admitKey(exchange, access.scope);
      case "key":
        return admitKey(exchange, access.scope);
      case "keyUnlessRead":
        return access.isRead(new URL(request.url).searchParams)
          ? admitRead(exchange)
          : admitKey(exchange, access.scope);
      case "signatureOrKey": {
        const isKeyWay = isCompat(path) && !isSigned(request) && keyTextOf(request.headers) !== "";
        return isKeyWay ? admitKey(exchange, access.scope) : undefined;
      }
      case "sendSecretOrKey":
        return isKey(keyTextOf(request.headers)) ? admitKey(exchange, access.scope) : undefined;
    }
  }

  /**
   * Charges an admitted request, unless it has a credential of another kind; such a request is counted against the share of its route.
   */
  function charge(exchange: Exchange, { access, price, share }: RouteTerms): void {
    if (share !== undefined && exchange.caller.kind === "anonymous") limits.count(exchange, share);
    const isCounted = exchange.caller.kind === "apiKey" || COUNTED_WITHOUT_KEY.has(access.kind);
    if (!isCounted || !limits.isLimited(exchange)) return;
    exchange.charge = (units) => limits.charge(exchange, units);
    exchange.settlement = limits;
    exchange.charge(price(exchange.request.url));
  }

  return {
    admit(exchange, terms) {
      exchange.caller = ANONYMOUS;
      const admission = admitTo(exchange, terms.access);
      if (admission === undefined) return charge(exchange, terms);
      return admission.then(() => charge(exchange, terms));
    },

    recordUse({ caller, route = "unmatched", charged, writes }, status) {
      if (caller.kind === "anonymous") return;
      usage.record({ apiKeyId: caller.apiKeyId, route, units: charged, writes, status });
    },
  };
}
