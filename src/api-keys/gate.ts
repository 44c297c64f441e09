import type { StaleReason } from "../auth/staleness.ts";
import { basePathOf, type ServiceNames } from "../config/names.ts";
import { ANONYMOUS, type ApiKeyCaller, invalidKey, type Scope } from "../http/caller.ts";
import { ApiError } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Gate } from "../http/gate.ts";
import type { Access } from "../http/route-terms.ts";
import type { KeyLookup } from "./key-lookup.ts";
import { isMeantAsKey } from "./key-text.ts";

export interface GateDeps {
  readonly names: ServiceNames;
  /** `service.compat_prefixes`. */
  readonly compatPrefixes: readonly string[];
  /** `http.anonymous`. */
  readonly anonymousReads: boolean;
  readonly keys: KeyLookup;
  /** While this returns a reason, a custody address in the index may be outdated. */
  readonly staleReason: StaleReason;
}

/** Headers that clients of the hosted API send their key in; older clients use the second. */
const KEY_HEADERS = ["x-api-key", "api_key"] as const;
const SIGNATURE_HEADERS = ["Fid", "Op", "Signed-At", "Nonce", "Signature"] as const;
/** What these scopes allow to the owner, a new custody address must be able to stop at once. */
const NEED_CURRENT_INDEX: ReadonlySet<Scope> = new Set(["webhooks", "apps", "signers"]);

/** The text that a client sends as its key; empty if there is none. */
export function keyTextOf(headers: Headers): string {
  for (const name of KEY_HEADERS) {
    const text = headers.get(name);
    if (text !== null && text !== "") return text;
  }
  return "";
}

/**
 * Creates the gate of the HTTP interface. It decides which credential of a request counts: a signature, which its route verifies; else
 * a key; else none. There is no fallback from one to the next. Keys count in the compat dialect, and everywhere while anonymous reads
 * are closed.
 */
export function createGate(deps: GateDeps): Gate {
  const { names, compatPrefixes, anonymousReads, keys, staleReason } = deps;
  const compatPaths = compatPrefixes.map((prefix) => `${basePathOf(prefix)}/`);
  const signatureHeaders = SIGNATURE_HEADERS.map((name) => names.headerPrefix + name);
  const isCompat = (path: string) => compatPaths.some((base) => path.startsWith(base));
  const isSigned = ({ headers }: Request) => signatureHeaders.some((name) => headers.has(name));
  const isKey = (text: string) => isMeantAsKey(text, names.segment);

  function requireScope(caller: ApiKeyCaller | undefined, scope: Scope): ApiKeyCaller {
    if (caller === undefined) throw invalidKey();
    if (caller.scopes.includes(scope)) return caller;
    throw new ApiError("forbidden", `the key lacks the scope ${JSON.stringify(scope)}`, {
      code: "missing_scope",
    });
  }

  function admitRead(exchange: Exchange): void | Promise<void> {
    if (anonymousReads && !isCompat(exchange.path)) return undefined;
    const text = keyTextOf(exchange.request.headers);
    if (!isKey(text)) {
      if (anonymousReads) return undefined;
      throw invalidKey();
    }
    const known = keys.known(text);
    if (known !== undefined) {
      exchange.caller = requireScope(known, "read");
      return undefined;
    }
    return keys.findForRead(text).then((caller) => {
      exchange.caller = requireScope(caller, "read");
    });
  }

  async function admitKey(exchange: Exchange, scope: Scope): Promise<void> {
    const text = keyTextOf(exchange.request.headers);
    if (!isKey(text) || isSigned(exchange.request)) throw invalidKey();
    const caller = requireScope(await keys.find(text), scope);
    const stale = NEED_CURRENT_INDEX.has(scope) ? await staleReason() : undefined;
    if (stale !== undefined) throw new ApiError("unavailable", `this key has to wait: ${stale}`);
    exchange.caller = caller;
  }

  function admitTo(exchange: Exchange, access: Access): void | Promise<void> {
    const { request, path } = exchange;
    switch (access.kind) {
      case "open":
        return undefined;
      case "read":
        return admitRead(exchange);
      case "key":
        return admitKey(exchange, access.scope);
      case "signatureOrKey": {
        const isKeyWay = isCompat(path) && !isSigned(request) && keyTextOf(request.headers) !== "";
        return isKeyWay ? admitKey(exchange, access.scope) : undefined;
      }
      case "sendSecretOrKey":
        return isKey(keyTextOf(request.headers)) ? admitKey(exchange, access.scope) : undefined;
    }
  }

  return {
    admit(exchange, { access }) {
      exchange.caller = ANONYMOUS;
      return admitTo(exchange, access);
    },
  };
}
