/** A line that must change, or that the owner should know about. */
export interface Change {
  readonly what: string;
  readonly todo: string;
  readonly at: number;
}

/** A placeholder for the URL of the node. */
export const NODE = "<node>";

/** Finds places that a repository must change. */
export interface Rule {
  readonly pattern: RegExp;
  /** Returns undefined if this place needs no change. */
  readonly change: (found: RegExpMatchArray) => Omit<Change, "at"> | undefined;
}

const QUICK_AUTH = `${NODE}/quick-auth`;

/** Reports whether the source of a place matches a pattern: a setting may be above its use. */
const has = ({ input = "" }: RegExpMatchArray, pattern: RegExp) => pattern.test(input);

/** Matches a relay other than the official one, in the form of AuthKit and auth-client. */
const OWN_RELAY = /\brelay\s*[:,}](?!\s*["'`]https:\/\/relay\.farcaster\.xyz)/;

/** The places of a sign-in. Each library has one option for the node, except `quickAuth.fetch`. */
export const SIGN_IN_RULES: readonly Rule[] = [
  {
    pattern: /\bquickAuth\s*\??\.\s*fetch\b/g,
    change: () => ({
      what: "quickAuth.fetch",
      todo: `takes no server: call quickAuth.getToken({ quickAuthServerOrigin: "${QUICK_AUTH}" }) before it, or send the token yourself`,
    }),
  },
  {
    pattern: /\bquickAuth\s*\??\.\s*getToken\s*\(\s*([^(){}]{0,200}|\{[^{}]{0,300}\})\s*\)/g,
    change: (found) =>
      has(found, /\bquickAuthServerOrigin\b/)
        ? undefined
        : { what: "quickAuth.getToken", todo: `add quickAuthServerOrigin: "${QUICK_AUTH}"` },
  },
  {
    pattern: /\b(create(?:Light)?Client)\s*\(\s*(?:\{[^{}]{0,300}\})?\s*\)/g,
    change: (found) => {
      const [whole, name] = found;
      if (!has(found, /["']@farcaster\/quick-auth(?:\/light)?["']/) || /\borigin\b/.test(whole))
        return undefined;
      return { what: `${name} of quick-auth`, todo: `${name}({ origin: "${QUICK_AUTH}" })` };
    },
  },
  {
    pattern: /<AuthKitProvider\b|\bcreateElement\(\s*AuthKitProvider\b/g,
    change: (found) =>
      has(found, OWN_RELAY)
        ? undefined
        : { what: "AuthKitProvider", todo: `config: relay: "${NODE}", rpcUrl: "${NODE}/rpc/10"` },
  },
  {
    pattern: /\bcreateAppClient\s*\(/g,
    change: (found) =>
      has(found, OWN_RELAY) ? undefined : { what: "createAppClient", todo: `add relay: "${NODE}"` },
  },
  {
    pattern: /\bviemConnector\s*\(\s*\)/g,
    change: () => ({
      what: "viemConnector",
      todo: `viemConnector({ rpcUrl: "${NODE}/rpc/10" }) needs no vendor`,
    }),
  },
  {
    pattern: /\bclass(?:Name)?=["'{][^"'{}]{0,100}\bneynar_signin\b/g,
    change: (found) =>
      has(found, /neynar_login_url(?!["'\]]?\s*=\s*["'{`]*https:\/\/app\.neynar\.com)/)
        ? undefined
        : { what: "the sign-in button", todo: `data-neynar_login_url="${NODE}/login"` },
  },
  {
    pattern: /\bauth\.farcaster\.xyz\b/g,
    change: () => ({ what: "auth.farcaster.xyz", todo: `${QUICK_AUTH}, also as the issuer of tokens` }),
  },
  {
    pattern: /\brelay\.farcaster\.xyz\b/g,
    change: () => ({ what: "relay.farcaster.xyz", todo: NODE }),
  },
];
